// `compare`: runs that should be alike, and runs that are not.
#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// `compare --json` of finished_run() with another run of its experiment.
class Compared {
public:
    /// @param options of `train`  @param environment variables before the command, or ""
    Compared(const std::string& options, const std::string& environment = "") {
        const CommandResult trained = run_command(environment + train_command(finished_run().config, folder_ / "other", options));
        INFO(trained.err);
        REQUIRE(trained.exit_code == 0);
        const CommandResult compared = run_command(train_program + " compare " + finished_run().run.string() + " " +
                                                   (folder_ / "other").string() + " --json --svg " + picture().string());
        INFO(compared.err);
        exit_code = compared.exit_code;
        found = json::parse(compared.out);
    }
    fs::path picture() const { return folder_ / "differences.svg"; }
    double largest() const { return found.at("worst_held_out").at("relative_difference"); }

    int exit_code = -1;
    json found;

private:
    TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("the same run on three ranks is alike, with exit code 0") {
    NEEDS_TRAIN();
    const Compared three("--local-ranks 3 --set batch.global_batch_size=8");
    CHECK(three.exit_code == 0);
    CHECK(three.found.at("alike") == true);
    CHECK(three.found.at("held_out").size() == 2);
    CHECK(three.found.at("training").at("steps") == 20);
    CHECK(three.found.at("settings").empty());
    CHECK(read_text(three.picture()).find("<svg") != std::string::npos);
}

TEST_CASE("the same run with plain ATen instead of our kernels is alike") {
    NEEDS_TRAIN();
    CHECK(Compared("", "env BERTPRETRAIN_CPU_CAPABILITY=reference ").exit_code == 0);
}

TEST_CASE("a second run with the same settings has the same losses, bit for bit") {
    NEEDS_TRAIN();
    const Compared same("");
    CHECK(same.found.at("training").at("equal_steps") == 20);
    CHECK(same.largest() == 0);
}

TEST_CASE("a run with another seed is different, with exit code 6 and the setting that differs") {
    NEEDS_TRAIN();
    const Compared other("--set training.seed=8");
    CHECK(other.exit_code == 6);
    CHECK(other.found.at("alike") == false);
    REQUIRE(other.found.at("settings").size() == 1);
    CHECK(other.found.at("settings")[0].at("setting") == "training.seed");
}

TEST_CASE("two files of vectors are alike in another precision, and different for another checkpoint, by the exit code") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string checkpoints = (finished_run().run / "checkpoints").string();
    const auto embed = [&](const std::string& model, const std::string& name, const std::string& options = "") {
        const CommandResult embedded =
            run_command("head -200 " + sample_data().text.string() + " | env OMP_NUM_THREADS=1 " + train_program + " embed " +
                        checkpoints + "/" + model + " - --output " + (folder / name).string() + " " + options);
        INFO(embedded.err);
        REQUIRE(embedded.exit_code == 0);
    };
    embed("step_00000020", "last.npy");
    embed("step_00000020", "last.h5", "--precision bf16");
    embed("step_00000003", "early.npy");
    const auto compare = [&](const std::string& a, const std::string& b, const std::string& options) {
        return run_command(train_program + " compare " + (folder / a).string() + " " + (folder / b).string() + " " + options);
    };
    const CommandResult same = compare("last.npy", "last.h5", "--json");
    INFO(same.err);
    CHECK(same.exit_code == 0);
    const json found = json::parse(same.out);
    CHECK(found.at("alike") == true);
    CHECK(found.at("rows") == 200);
    CHECK(found.at("columns") == 64);
    CHECK(found.at("rank_correlation").get<double>() > 0.9);
    const CommandResult other = compare("last.npy", "early.npy", "");
    CHECK(other.exit_code == 6);
    CHECK(missing_words(other.out, {"lowest cosine", "rank correlation", "below the bound of 1 - 0.001: different"}) == "");
    CHECK(compare("last.npy", "early.npy", "--bound 1").exit_code == 0);

    CHECK(compare("last.npy", "", "").exit_code == 2);  // a file and a folder
    CHECK(compare("last.npy", "last.h5", "--svg " + (folder / "chart.svg").string()).exit_code == 2);
    write_text(folder / "damaged.npy", "no vectors");
    const CommandResult damaged = compare("last.npy", "damaged.npy", "");
    CHECK(damaged.exit_code == 3);
    CHECK(missing_words(damaged.err, {"damaged.npy: is not an .npy file"}) == "");
}

TEST_CASE("files of vectors whose ids differ in order are said to do so, with the first such row") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    write_text(folder / "a.jsonl",
               "{\"text\": \"a star\", \"id\": \"x\"}\n{\"text\": \"one\", \"id\": \"y\"}\n"
               "{\"text\": \"water\", \"id\": \"z\"}\n");
    write_text(folder / "b.jsonl",
               "{\"text\": \"a star\", \"id\": \"x\"}\n{\"text\": \"water\", \"id\": \"z\"}\n"
               "{\"text\": \"one\", \"id\": \"y\"}\n");
    for (const auto& [input, output] : {std::pair("a", "a.h5"), std::pair("b", "b.npy")}) {
        const CommandResult embedded =
            run_command("env OMP_NUM_THREADS=1 " + train_program + " embed " + finished_run().run.string() + " " +
                        (folder / input).string() + ".jsonl --id-field id --output " + (folder / output).string());
        INFO(embedded.err);
        REQUIRE(embedded.exit_code == 0);
    }
    const std::string command = train_program + " compare " + (folder / "a.h5").string() + " " + (folder / "b.npy").string();
    const CommandResult printed = run_command(command), json_printed = run_command(command + " --json");
    CHECK(printed.exit_code == 6);
    CHECK(missing_words(printed.out, {"the same ids in another order", "row is 1 (from 0)", "\"y\" and \"z\""}) == "");
    CHECK(json::parse(json_printed.out).at("other_ids").at("is_other_order") == true);
}
