// The production loop: each generation trains from the one before, and a worse one is refused.
#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

std::string pipeline_config(const TemporaryFolder& folder, const std::string& options) {
    return "experiment=" + (folder / "experiment.json").string() + "\nshards=" + sample_data().shards.string() +
           "\nheld_out=" + sample_data().shards.string() + "\ntext=" + (folder / "texts.txt").string() +
           "\nmodels=" + (folder / "models").string() + "\ntrain_options=(" + options + ")\n";
}

CommandResult pipeline(const TemporaryFolder& folder, const std::string& options) {
    write_text(folder / "pipeline.conf", pipeline_config(folder, options));
    return run_command("env OMP_NUM_THREADS=1 BERTPRETRAIN=" + train_program + " scripts/pipeline.sh " +
                       (folder / "pipeline.conf").string());
}

}  // namespace

TEST_CASE("the pipeline trains a generation from the one before, continues after a failure, and refuses a worse one") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path models = folder / "models";
    write_experiment(folder);
    write_text(folder / "texts.txt", "one text\nand another\n");

    const CommandResult first = pipeline(folder, "");
    INFO(first.err);
    REQUIRE(first.exit_code == 0);
    CHECK(fs::read_symlink(models / "current") == "0001");
    for (const char* made : {"run/checkpoints", "evaluation.json", "hf/model.safetensors", "torchscript", "vectors.npy"})
        CHECK(fs::exists(models / "current" / made));

    fs::remove(folder / "texts.txt");  // its last stage fails
    const CommandResult stopped = pipeline(folder, "--set schedule.total_steps=5");
    CHECK(stopped.exit_code == 3);
    CHECK(fs::read_symlink(models / "current") == "0001");
    CHECK(fs::read_symlink(models / "next") == "0002");
    write_text(folder / "texts.txt", "one text\nand another\n");
    const CommandResult second = pipeline(folder, "--set schedule.total_steps=5");
    INFO(second.err);
    REQUIRE(second.exit_code == 0);
    CHECK(second.err.find("going on from step 5") != std::string::npos);
    CHECK(fs::read_symlink(models / "current") == "0002");
    CHECK_FALSE(fs::exists(fs::symlink_status(models / "next")));

    const CommandResult worse = pipeline(folder, "--set optimizer.learning_rate=3");
    CHECK(worse.exit_code == 6);
    CHECK(missing_words(worse.err, {"held-out mlm_loss", "is worse than that of", "refused"}) == "");
    CHECK(fs::read_symlink(models / "current") == "0002");
    CHECK(pipeline(folder, "--set optimizer.learning_rate=3").exit_code == 6);  // refused again
}
