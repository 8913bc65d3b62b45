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
