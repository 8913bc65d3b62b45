// File systems that lack calls, report no size or report errors late, and machines that allow no more threads.

#include <cerrno>

#include "core/concat.h"
#include "support/catch.h"
#include "support/contains.h"
#include "system/refusal.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Returns the command with each call of `call` failing with `reason` on files whose paths contain `part`.
std::string with_fault(const std::string& call, int reason, const std::string& part, const std::string& command) {
    return concat("env LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so FAULT_DO=fail FAULT_TIMES=1000000 FAULT_CALL=", call,
                  " FAULT_ERROR=", reason, " FAULT_FILE='", part, "' ", command);
}

std::string shard_command(const std::filesystem::path& output) {
    return concat(data_program, " shard ", sample_data().text.string(), " --vocabulary ", sample_data().vocabulary.string(),
                  " --output ", output.string(), " --shards 1 --held-out-shards 1 --sequence-length 64 --quiet");
}

}  // namespace

TEST_CASE("on a file system without locks shards are made, and the run warns that it cannot lock its folder") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult made = run_command(with_fault("flock", ENOLCK, folder.path().string(), shard_command(folder / "shards")));
    REQUIRE(missing_words(concat("exit ", made.exit_code, made.err), {"exit 0"}) == "");
    const auto config = write_experiment(
        folder, {{"schedule", {{"total_steps", 2}}}, {"data", {{"training_shards", (folder / "shards").string()}}}});
    const CommandResult trained =
        run_command(with_fault("flock", ENOLCK, folder.path().string(), train_command(config, folder / "run")));
    CHECK(trained.exit_code == 0);
    CHECK(contains(trained.err, "this file system cannot lock folders or files"));
}

TEST_CASE("on a file system that cannot flush folders texts, shards and checkpoints are written") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_experiment(folder, {{"schedule", {{"total_steps", 2}}}});
    for (const std::string& command :
         {concat(data_program, " extract ", sample_data().text.string(), " --output ", (folder / "text.txt").string()),
          shard_command(folder / "shards"), train_command(config, folder / "run")}) {
        const CommandResult result = run_command(with_fault("fsync_folder", EINVAL, "/", command));
        CHECK(missing_words(concat("exit ", result.exit_code, " ", result.err), {"exit 0"}) == "");
    }
    CHECK(run_command(concat(train_program, " inspect ", (folder / "run").string(), " --verify")).exit_code == 0);
}

TEST_CASE("on a file system that cannot map files a run saves, resumes and is inspected") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_experiment(folder, {{"schedule", {{"total_steps", 2}}}});
    const auto run = [&](const std::string& command) {
        const CommandResult result = run_command(with_fault("mmap", ENODEV, "/", command));
        return missing_words(concat("exit ", result.exit_code, " ", result.err), {"exit 0"});
    };
    CHECK(run(train_command(config, folder / "run")) == "");
    CHECK(run(train_command(config, folder / "run", "--set schedule.total_steps=4")) == "");
    CHECK(run(concat(train_program, " inspect ", (folder / "run").string(), " --verify")) == "");
    CHECK(numbers_of(folder / "run").size() >= 4);
}

TEST_CASE("a file system that reports a size of 0 does not keep a run from starting") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_experiment(folder, {{"schedule", {{"total_steps", 2}}}});
    const CommandResult result = run_command(with_fault("statvfs", 0, "", train_command(config, folder / "run")));
    CHECK(missing_words(concat("exit ", result.exit_code, " ", result.err), {"exit 0"}) == "");
}

TEST_CASE("a write that a network file system reports when an h5 file is closed ends shard with exit 3") {
    const TemporaryFolder folder;
    const CommandResult result = run_command(with_fault("close", EDQUOT, ".h5.partial", shard_command(folder / "shards")));
    check_refusal(result, data_exit, {".h5.partial: cannot be written"}, "close fails");
    CHECK(!std::filesystem::exists(folder / "shards/manifest.json"));
}

TEST_CASE("a machine that allows no more threads is named as the cause, with exit 2 and the limits to raise") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    for (const int first : {0, 1, 2, 3}) {
        const std::string more = concat("FAULT_AFTER=", first, " ");
        const CommandResult result = run_command(
            with_fault("pthread_create", EAGAIN, "", more + shard_command(folder / "shards") + " --overwrite --threads 4"));
        if (result.exit_code == 0) break;  // it starts fewer threads
        check_refusal(result, config_exit, {"no more threads or processes may be started here", "ulimit -u", "--pids-limit"},
                      more);
    }
    const CommandResult result =
        run_command(with_fault("pthread_create", EAGAIN, "", train_command(write_experiment(folder), folder / "run")));
    check_refusal(result, config_exit, {"no more threads or processes may be started here"}, "train");
}

TEST_CASE("an --output that cannot be meant as a local path is refused by every command, and nothing is written") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_experiment(folder);
    const std::string text = sample_data().text.string(), words = sample_data().vocabulary.string(),
                      run = finished_run().run.string();
    const std::vector<std::string> commands = {
        concat(train_program, " train ", config.string()), concat(train_program, " export ", run, " --format hf"),
        concat(train_program, " embed ", run, " ", text),  concat(data_program, " shard ", text, " --vocabulary ", words),
        concat(data_program, " extract ", text),           concat(data_program, " deduplicate ", text),
        concat(data_program, " vocabulary ", text),
    };
    const std::vector<std::pair<std::string, std::string>> outputs = {
        {"s3://bucket/x.npy", "is an address"}, {"s3:/bucket/x.npy", "is an address"}, {"file:///tmp/x.npy", "is an address"},
        {"hdfs://host/x.npy", "is an address"}, {"~/x.npy", "begins with ~"},          {"", "has no value"},
        {"x.npy\r", "carriage return"}};
    for (const std::string& command : commands)
        for (const auto& [output, words_of_it] : outputs)
            check_refusal(run_command(concat("cd ", folder.path().string(), " && ", command, " --output='", output, "'")),
                          config_exit, {"--output", words_of_it, "do:"}, concat(command, " ", output));
    check_refusal(run_command(concat(commands.front(), " --output ''")), config_exit, {"is empty", "shell variable"},
                  "two words");
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) left.push_back(entry.path().filename().string());
    CHECK(left == std::vector<std::string>{"experiment.json"});
}

TEST_CASE("a new run or shards in a checkpoint's folder are refused, and the checkpoint stays whole") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    const auto config = write_experiment(folder);
    for (const char* inside :
         {"run/checkpoints/step_00000020", "run/checkpoints/step_00000020/", "run/checkpoints/step_00000020/new"})
        check_refusal(train(config, folder / inside), config_exit, {"checkpoint", "--resume", "initialization.init_from"},
                      inside);
    check_refusal(train(config, folder / "run/checkpoints"), config_exit,
                  {"holds a run's checkpoints", concat("--output ", (folder / "run").string())}, "checkpoints");
    check_refusal(run_command(shard_command(folder / "run/checkpoints/step_00000020")), config_exit, {"is a checkpoint"},
                  "shard");
    CHECK(run_command(concat(train_program, " inspect ", (folder / "run").string(), " --verify")).exit_code == 0);
    CHECK(!std::filesystem::exists(folder / "run/checkpoints/step_00000020/exit.json"));
}
