// Held-out numbers of many checkpoints do not depend on ranks, micro-batches or which checkpoints are evaluated together.
#include <cmath>
#include <sstream>

#include "support/catch.h"
#include "system/evaluation_bounds.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

CommandResult evaluate(const std::string& models, const std::string& options) {
    return run_command("env OMP_NUM_THREADS=1 " + train_program + " evaluate " + models + " --shards " +
                       sample_data().shards.string() + " " + options);
}

std::vector<json> lines_of(const CommandResult& result) {
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    std::vector<json> lines;
    std::istringstream in(result.out);
    for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
    return lines;
}

fs::path step(const std::string& number) { return finished_run().run / "checkpoints" / ("step_000000" + number); }

}  // namespace

TEST_CASE("the curve of a run equals its checkpoints' results one by one, for any number of ranks and micro-batch size") {
    NEEDS_TRAIN();
    const auto curve = lines_of(evaluate(finished_run().run.string(), "--all --json"));
    REQUIRE(curve.size() == 7);
    CHECK(curve.back().at("mlm_loss").get<double>() < curve.front().at("mlm_loss").get<double>());
    const auto alone = lines_of(evaluate(step("18").string(), "--json"));
    REQUIRE(alone.size() == 1);
    for (const auto& [name, value] : alone.front().items()) CHECK(curve.at(5).at(name) == value);
    for (const char* other : {"--local-ranks 3", "--micro-batch-size 5", "--micro-batch-size 1 --local-ranks 2"}) {
        CAPTURE(other);
        const auto again = lines_of(evaluate(step("03").string() + " " + step("18").string(), std::string("--json ") + other));
        REQUIRE(again.size() == 2);
        CHECK(again.at(1).at("checkpoint") == step("18").string());
        const double sequences = alone.front().at("sequences");
        for (const char* name : {"mlm_loss", "nsp_loss", "mlm_accuracy", "nsp_accuracy", "sequences"}) {
            CAPTURE(name);
            const double value = alone.front().at(name);
            CHECK(std::fabs(again.at(1).at(name).get<double>() - value) <= evaluation_bound(name, value, sequences));
        }
    }
    CHECK(missing_words(evaluate(finished_run().run.string(), "--all").out, {"step_00000003", "mlm_loss", "step_00000020"}) ==
          "");
}

TEST_CASE("a checkpoint that is worse than the baseline gives exit 6, another gives exit 0") {
    NEEDS_TRAIN();
    const std::string early = step("03").string(), late = step("20").string();
    CHECK(evaluate(late, "--baseline " + early).exit_code == 0);
    CHECK(evaluate(early, "--baseline " + early).exit_code == 0);
    const CommandResult worse = evaluate(early, "--baseline " + late);
    CHECK(worse.exit_code == 6);
    CHECK(missing_words(worse.err, {early, "held-out mlm_loss", "is worse than that of", late}) == "");
    CHECK(evaluate(early, "--tolerance 0.9 --baseline " + late).exit_code == 0);
}

TEST_CASE("evaluate without --shards measures on the held-out shards of the run, and says what to do where they are gone") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string run = finished_run().run.string(), command = "env OMP_NUM_THREADS=1 " + train_program + " evaluate ";
    const CommandResult own = run_command(command + run + " --json");
    INFO(own.err);
    REQUIRE(own.exit_code == 0);
    CHECK(own.out == evaluate(run, "--json").out);
    CHECK(missing_words(own.err, {"shards of the run: " + sample_data().shards.string()}) == "");

    fs::copy(sample_data().shards, folder / "shards", fs::copy_options::recursive);
    const fs::path config = write_experiment(
        folder, {{"data", {{"training_shards", (folder / "shards").string()}}}, {"schedule", {{"total_steps", 2}}}});
    REQUIRE(train(config, folder / "run").exit_code == 0);
    const CommandResult two = run_command(command + run + " " + (folder / "run").string());
    CHECK(two.exit_code == 2);
    CHECK(missing_words(two.err, {"other shards than that of the model before", "--shards DIR"}) == "");
    fs::remove_all(folder / "shards");
    const CommandResult gone = run_command(command + (folder / "run").string());
    CHECK(gone.exit_code == 2);
    CHECK(missing_words(gone.err, {(folder / "shards").string(), "were not found", "--shards DIR"}) == "");
    REQUIRE(run_command(train_program + " export " + run + " --format hf --output " + (folder / "hf").string()).exit_code == 0);
    const CommandResult foreign = run_command(command + (folder / "hf").string());
    CHECK(foreign.exit_code == 2);
    CHECK(missing_words(foreign.err, {"nothing to measure", "--probe TSV"}) == "");
}

TEST_CASE("evaluate without --shards gives each source's loss of a run with several, as the run measured them") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    fs::copy(sample_data().shards, folder / "second", fs::copy_options::recursive);
    const fs::path config =
        write_experiment(folder, {{"data",
                                   {{"training_shards", json::array({{{"path", sample_data().shards.string()}, {"weight", 1}},
                                                                     {{"path", (folder / "second").string()}, {"weight", 1}}})}}},
                                  {"schedule", {{"total_steps", 2}}}});
    REQUIRE(train(config, folder / "run").exit_code == 0);
    const CommandResult own =
        run_command("env OMP_NUM_THREADS=1 " + train_program + " evaluate " + (folder / "run").string() + " --json");
    INFO(own.err);
    REQUIRE(own.exit_code == 0);
    const json both = json::parse(own.out), one = json::parse(evaluate((folder / "run").string(), "--json").out);
    CHECK(both.at("sequences").get<int>() == 2 * one.at("sequences").get<int>());
    CHECK(std::fabs(both.at("mlm_loss").get<double>() - one.at("mlm_loss").get<double>()) < 1e-5);
}

TEST_CASE("evaluate measures on rows of any length that the model has positions for") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const SampleData& data = sample_data();
    const std::string run = finished_run().run.string();
    const auto measured_at = [&](const std::string& length) {
        const std::string shards = (folder / length).string();
        REQUIRE(run_command(data_program + " shard " + data.text.string() + " --vocabulary " + data.vocabulary.string() +
                            " --output " + shards + " --sequence-length " + length + " --shards 1")
                    .exit_code == 0);
        return run_command("env OMP_NUM_THREADS=1 " + train_program + " evaluate " + run + " --shards " + shards + " --json");
    };
    const CommandResult shorter = measured_at("32"), longer = measured_at("128");
    INFO(shorter.err);
    REQUIRE(shorter.exit_code == 0);
    CHECK(json::parse(shorter.out).at("mlm_loss").get<double>() > 0);
    CHECK(longer.exit_code == 2);
    CHECK(missing_words(longer.err, {"rows are 128 tokens long", "knows 64 positions", "--sequence-length 64"}) == "");
    CHECK(shorter.err.find("was trained on rows of") == std::string::npos);

    const auto config = write_experiment(folder, {{"schedule", {{"total_steps", 1}}}});
    const CommandResult trained =
        train(config, folder / "run", "--set data.sequence_length=32 --set data.training_shards=" + (folder / "32").string());
    INFO(trained.err);
    REQUIRE(trained.exit_code == 0);
    const CommandResult later = run_command("env OMP_NUM_THREADS=1 " + train_program + " evaluate " + (folder / "run").string() +
                                            " --shards " + data.shards.string());
    CHECK(later.exit_code == 0);
    CHECK(missing_words(later.err, {"rows are 64 tokens long", "was trained on rows of 32"}) == "");
}

TEST_CASE("a run is warned of held-out shards that were made of its own text with another seed") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string other = (folder / "other").string();
    const CommandResult made = run_command(data_program + " shard " + sample_data().text.string() + " --vocabulary " +
                                           sample_data().vocabulary.string() + " --output " + other +
                                           " --sequence-length 64 --shards 1 --held-out-shards 1 --seed 99");
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    const auto config = write_experiment(folder, {{"schedule", {{"total_steps", 1}}}, {"evaluation", {{"every_steps", 1}}}});
    const CommandResult warned = train(config, folder / "warned", "--set data.held_out_shards=" + other);
    CHECK(warned.exit_code == 0);
    CHECK(missing_words(warned.err, {"the held-out rows of " + other, "were made of the same text"}) == "");
    CHECK(train(config, folder / "apart").err.find("same text") == std::string::npos);
    const CommandResult measured =
        run_command("env OMP_NUM_THREADS=1 " + train_program + " evaluate " + (folder / "apart").string() + " --shards " + other);
    CHECK(measured.exit_code == 0);
    CHECK(missing_words(measured.err, {"the held-out rows of " + other, "were made of the same text"}) == "");
    CHECK(evaluate((folder / "apart").string(), "").err.find("same text") == std::string::npos);
}
