// Run folders that cannot be used, and checkpoints that cannot be evaluated.

#include "support/catch.h"
#include "support/process.h"
#include "system/refusal.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

CommandResult evaluate(const fs::path& checkpoint, const std::string& options) {
    return run_command("OMP_NUM_THREADS=1 " + train_program + " evaluate " + checkpoint.string() + " " + options);
}

}  // namespace

TEST_CASE("an output that is not a folder, or cannot be written, is refused") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder);
    write_text(folder / "file", "precious");
    for (const fs::path& output : {folder / "file", folder / "file/run", fs::path("/proc/no/run")})
        check_refused_before_training(train(config, output), config_exit, {output.string(), "folder", "--output"},
                                      output.string(), output);
    CHECK(read_text(folder / "file") == "precious");
}

TEST_CASE("a folder in which another process trains is refused, and that process continues") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder), run = folder / "run";
    Process first(train_command(config, run, "--set schedule.total_steps=100000"));
    REQUIRE(wait_until(first, [&] { return !read_text(run / "metrics.jsonl").empty(); }));
    check_refusal(train(config, run), config_exit, {run.string(), "another process is training", "--output"},
                  "two in one folder");
    CHECK_FALSE(first.ended());
    first.send(SIGTERM);
    CHECK(first.wait() == 128 + SIGTERM);
}

TEST_CASE("a refused request changes nothing in an existing run") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    const auto before = files_of(folder / "run");
    for (const std::string options :
         {"--set batch.micro_batch_size=4.7", "--set data.training_shards=no/such/folder", "--resume never",
          "--set model.vocab_size=808", "--set data.vocabulary=CMakeLists.txt", "--resume 19"}) {
        INFO(options);
        CHECK(train(finished_run().config, folder / "run", options).exit_code >= config_exit);
        CHECK((files_of(folder / "run") == before));
    }
}

TEST_CASE("evaluate refuses a path that is not a checkpoint") {
    NEEDS_TRAIN();
    const std::string shards = "--shards " + sample_data().shards.string();
    const TemporaryFolder folder;
    check_refusal(evaluate(folder / "none", shards), checkpoint_exit, {"none", "there is no such file or folder"}, "missing");
    check_refusal(evaluate(folder.path(), shards), checkpoint_exit,
                  {folder.path().string(), "no known weights found", "checkpoints of this program"}, "an empty folder");
    fs::copy(finished_run().run / "checkpoints/step_00000020", folder / "cut", fs::copy_options::recursive);
    fs::resize_file(folder / "cut/model.pt", 1000);
    check_refusal(evaluate(folder / "cut", shards), checkpoint_exit, {"cut/model.pt", "1000"}, "cut short");
}

TEST_CASE("a newest checkpoint that was cut is named, and no older one is taken for it in silence") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    copy_finished_run(run);
    fs::resize_file(run / "checkpoints/step_00000020/optimizer.pt", 1000);
    const std::string shards = "--shards " + sample_data().shards.string();
    check_refusal(evaluate(run, shards), checkpoint_exit,
                  {"step_00000020/optimizer.pt", "1000", "do: name an older one: ", "step_00000018"}, "evaluate");
    for (const std::string command : {"predict", "export --format hf --output no/such/folder", "average --output no/such/folder"})
        check_refusal(run_command(train_program + " " + command + " " + run.string()), checkpoint_exit,
                      {"step_00000020/optimizer.pt", "step_00000018"}, command);
    CHECK(evaluate(run / "checkpoints/step_00000018", shards).exit_code == 0);
    const CommandResult all = evaluate(run, "--all " + shards);
    CHECK(all.exit_code == 0);
    CHECK(missing_words(all.err, {"step_00000020: is damaged and left out"}) == "");
}

TEST_CASE("evaluate refuses missing shards and unknown options") {
    NEEDS_TRAIN();
    const fs::path& run = finished_run().run;
    check_refusal(evaluate(run, "--shards no/such/folder"), data_exit, {"no/such/folder", "does not exist"}, "missing shards");
    check_refusal(evaluate(run, "--shards lib"), data_exit, {"lib", "expected a folder with .h5 or .hdf5 files", "test"},
                  "no shards in it");
    check_refusal(evaluate(run, "--shards lib --precision fp8"), config_exit, {"--precision", "fp8", "fp32", "bf16"},
                  "precision");
}

TEST_CASE("evaluate refuses shards made with another vocabulary") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string vocabulary = (folder / "vocab.txt").string(), shards = (folder / "shards").string();
    REQUIRE(run_command(data_program + " vocabulary " + sample_data().text.string() + " --size 700 --output " + vocabulary)
                .exit_code == 0);
    REQUIRE(run_command(data_program + " shard " + sample_data().text.string() + " --vocabulary " + vocabulary + " --output " +
                        shards + " --sequence-length 64 --max-predictions 10 --duplicate-factor 1 --shards 1")
                .exit_code == 0);
    check_refusal(evaluate(finished_run().run, "--shards " + shards), data_exit,
                  {"vocab.txt", "is not the vocabulary that the shards of " + shards}, "evaluate");
    check_refused_before_training(train(finished_run().config, folder / "run", "--set data.held_out_shards=" + shards), data_exit,
                                  {"vocab.txt", "is not the vocabulary that the shards of " + shards}, "train", folder / "run");
}
