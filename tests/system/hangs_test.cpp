// A run that hangs says where, and ends with exit 5.

#include "core/error.h"
#include "support/catch.h"
#include "support/process.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Makes a call of the C library hang for ever in a run under way.
void check_hang(const std::string& call_and_file, const std::string& phase, const std::string& function) {
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const fs::path config = write_experiment(
        folder, {{"schedule", {{"total_steps", 100000}}}, {"watchdog", {{"data_seconds", 2}, {"saving_seconds", 2}}}});
    Process process(concat("env LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so FAULT_WHEN=", (folder / "now").string(), " ",
                           call_and_file, " ", train_command(config, run)));
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

TEST_CASE("a disk that stops answering in the middle of a shard is a hang in data") {
    NEEDS_TRAIN();
    check_hang("FAULT_CALL=pread FAULT_FILE=.h5", "data", "pread");
}

TEST_CASE("a disk that stops answering while shards are looked through is a hang in the start") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const fs::path config =
        write_experiment(folder, {{"watchdog", {{"first_step_seconds", 3}}}, {"parallel", {{"first_step_timeout_seconds", 2}}}});
    Process process(concat("env LD_PRELOAD=" PROGRAM_FOLDER "/libfault_shim.so FAULT_CALL=pread FAULT_FILE=.h5 ",
                           train_command(config, run)));
    CHECK(process.wait() == 5);
    const auto record = nlohmann::json::parse(read_text(run / "exit.json"));
    CHECK(missing_words(record.at("cause").get<std::string>(), {"hangs", "start", "watchdog.first_step_seconds"}) == "");
    CHECK(missing_words(read_text(run / "log.txt"), {"thread ", "bertpretrain::", "pread"}) == "");
}

TEST_CASE("a disk that stops answering in the middle of a checkpoint is a hang in saving") {
    NEEDS_TRAIN();
    check_hang("FAULT_CALL=fsync FAULT_FILE=step_", "saving", "fsync");
}
