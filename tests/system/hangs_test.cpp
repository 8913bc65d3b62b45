// A run that hangs logs where it hangs, and ends with exit 5.

#include "system/run_progress.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Makes a call of the C library hang forever in a running run.
void check_hang(const std::string& call_and_file, const std::string& phase, const std::string& function) {
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const fs::path config = write_experiment(
        folder, {{"schedule", {{"total_steps", 100000}}}, {"watchdog", {{"data_seconds", 5}, {"saving_seconds", 5}}}});
    Process process(with_fault(call_and_file, folder / "now", train_command(config, run)));
    REQUIRE(wait_until(process, [&] { return fs::exists(run / "checkpoints/step_00000003"); }));
    write_text(folder / "now", "");
    CHECK(process.wait() == 5);
    const auto record = nlohmann::json::parse(read_text(run / "exit.json"));
    CHECK(record.at("code") == 5);
    CHECK(missing_words(record.at("cause").get<std::string>(), {"hangs", phase, "watchdog." + phase + "_seconds"}) == "");
    CHECK(missing_words(read_text(run / "log.txt"), {"thread ", "bertpretrain::", function}) == "");
    fs::remove(folder / "now");
    CHECK(train(config, run, "--set schedule.total_steps=8").exit_code == 0);
}

}  // namespace

TEST_CASE("a disk that stops answering while a shard is read is reported as a hang in data") {
    NEEDS_TRAIN();
    check_hang("FAULT_CALL=pread FAULT_FILE=.h5", "data", "pread");
}

TEST_CASE("a disk that stops answering while shards are checked is reported as a hang in the start") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const fs::path config =
        write_experiment(folder, {{"watchdog", {{"first_step_seconds", 10}}}, {"parallel", {{"first_step_timeout_seconds", 5}}}});
    Process process(concat("env LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so FAULT_CALL=pread FAULT_FILE=.h5 ",
                           train_command(config, run)));
    CHECK(process.wait() == 5);
    const auto record = nlohmann::json::parse(read_text(run / "exit.json"));
    CHECK(missing_words(record.at("cause").get<std::string>(), {"hangs", "start", "watchdog.first_step_seconds"}) == "");
    CHECK(missing_words(read_text(run / "log.txt"), {"thread ", "bertpretrain::", "pread"}) == "");
}

TEST_CASE("a disk that stops answering while a checkpoint is written is reported as a hang in saving") {
    NEEDS_TRAIN();
    check_hang("FAULT_CALL=fsync FAULT_FILE=step_", "saving", "fsync");
}

TEST_CASE("a process that gets a stop signal ends within 30 s although one of its threads is stuck in a read") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 100000}}}});
    Process process(with_fault("FAULT_CALL=pread FAULT_FILE=.h5", folder / "now", train_command(config, run)));
    REQUIRE(wait_until(process, [&] { return steps_of(run) >= 4; }));
    write_text(folder / "now", "");
    REQUIRE(stands_still(process, run, folder / "now"));
    process.send(SIGTERM);
    CHECK(wait_for_end(process) == 143);
    CHECK(recorded_code(run) == 143);
    const std::size_t step = steps_of(run);
    const CommandResult rest = train(config, run, concat("--set schedule.total_steps=", step + 1));
    CHECK(missing_words(rest.err, {concat("going on from step ", step)}) == "");
}

TEST_CASE("a process that gets a stop signal and has saved ends within 30 s although its last records cannot be written") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const fs::path config =
        write_experiment(folder, {{"schedule", {{"total_steps", 100000}}}, {"checkpoint", {{"save_every_steps", 0}}}});
    // The save at the stop makes the folder of checkpoints.
    Process process(with_fault("FAULT_CALL=write FAULT_FILE=/events.jsonl", run / "checkpoints", train_command(config, run)));
    REQUIRE(wait_until(process, [&] { return steps_of(run) >= 4; }));
    process.send(SIGTERM);
    CHECK(wait_for_end(process) == 143);
    CHECK(fs::exists(reached(run / "checkpoints")));
    CHECK(complete_checkpoints(run) == 1);
}

TEST_CASE("a run that fails while one of its threads is stuck in a read ends with the failure's code and message") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const fs::path config =
        write_experiment(folder, {{"schedule", {{"total_steps", 100000}}}, {"checkpoint", {{"save_every_steps", 0}}}});
    Process process(with_fault("FAULT_CALL=pread FAULT_FILE=.h5", folder / "now", train_command(config, run)));
    REQUIRE(wait_until(process, [&] { return steps_of(run) >= 4; }));
    write_text(folder / "now", "");
    REQUIRE(stands_still(process, run, folder / "now"));
    write_text(run / "checkpoints", "a file where a folder should be");  // so that no save can succeed
    process.send(SIGTERM);
    CHECK(wait_for_end(process) == 4);
    CHECK(recorded_code(run) == 4);
    CHECK(missing_words(read_text(run / "log.txt"), {"checkpoint error", "checkpoints"}) == "");
}

TEST_CASE("a checkpoint that is written slowly but steadily is not a hang, in the background, at the end or at a stop") {
    NEEDS_TRAIN();
    for (const bool stops : {true, false}) {
        CAPTURE(stops);
        const TemporaryFolder folder;
        const fs::path run = folder / "run";
        const nlohmann::json patch = {{"schedule", {{"total_steps", stops ? 100000 : 4}}},
                                      {"checkpoint", {{"save_every_steps", stops ? 0 : 3}}},
                                      {"watchdog", {{"saving_seconds", 2}}}};
        const fs::path config = write_experiment(folder, patch);
        // More than two hundred writes of 25 ms each: a save takes more than twice as long as the watchdog's limit.
        Process process(with_fault("FAULT_CALL=pwrite FAULT_FILE=step_ FAULT_DO=slow FAULT_SECONDS=0.025", folder / "now",
                                   train_command(config, run)));
        if (!stops) write_text(folder / "now", "");
        REQUIRE(wait_until(process, [&] { return steps_of(run) >= (stops ? 4 : 1); }));
        write_text(folder / "now", "");
        if (stops) process.send(SIGTERM);
        CHECK(wait_for_end(process, 50) == (stops ? 143 : 0));
        CHECK(run_command(train_program + " inspect --verify " + run.string()).exit_code == 0);
    }
}
