// The best checkpoint of a run is kept when newer ones are deleted.

#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

TEST_CASE("a run with an unsteady loss keeps its best checkpoint, which evaluates to the recorded loss") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config =
        write_experiment(folder, {{"optimizer", {{"learning_rate", 0.3}}},  // far too high
                                  {"schedule", {{"name", "constant"}, {"total_steps", 12}, {"warmup_ratio", 0.5}}},
                                  {"checkpoint", {{"save_every_steps", 2}, {"keep_last", 1}}},
                                  {"evaluation", {{"every_steps", 2}, {"max_sequences", 0}}}});
    const CommandResult run = train(config, folder / "run");
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    double lowest = 1e9;
    long best = 0, last = 0;
    for (const std::string& line : numbers_of(folder / "run")) {
        const json record = json::parse(line);
        if (!record.contains("held_out_mlm_loss")) continue;
        last = record.at("step");
        if (record["held_out_mlm_loss"] < lowest) {
            lowest = record["held_out_mlm_loss"];
            best = last;
        }
    }
    INFO("best step " << best << ", " << lowest);
    REQUIRE(best > 0);
    const fs::path checkpoints = folder / "run/checkpoints";
    CHECK(json::parse(read_text(checkpoints / "best/training_state.json")).at("step") == best);
    std::size_t kept = 0;
    for (const auto& entry : fs::directory_iterator(checkpoints)) kept += entry.is_symlink() ? 0U : 1U;
    CHECK(kept == (best < last ? 2U : 1U));
    const CommandResult again =
        run_command("OMP_NUM_THREADS=1 " + train_program + " evaluate " + (checkpoints / "best").string() + " --shards " +
                    sample_data().shards.string() + " --precision fp32 --json");
    INFO(again.err);
    REQUIRE(again.exit_code == 0);
    CHECK(json::parse(again.out).at("mlm_loss").get<double>() == Approx(lowest).epsilon(1e-4));
}
