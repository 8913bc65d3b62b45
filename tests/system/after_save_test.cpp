// checkpoint.after_save: the command on each checkpoint does not delay a run, and its failure is reported.

#include <iterator>

#include "core/error.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/small_disk.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
using bertpretrain::concat;
namespace fs = std::filesystem;

namespace {

/// Returns options of `train` for a command that acts only on the last checkpoint, that of step 20.
std::string on_last(const std::string& command) {
    return concat("--set 'checkpoint.after_save=case $1 in *20) ", command, ";; esac' ");
}

}  // namespace

TEST_CASE("the failure of the last checkpoint's command is logged before the run ends") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult result = train(finished_run().config, folder / "run", on_last("sleep 0.5; exit 7"));
    CHECK(result.exit_code == 0);
    CHECK(missing_words(result.err, {"checkpoint.after_save of step 20 ended with exit code 7"}) == "");
}

TEST_CASE("as PID 1, whose end kills all other processes, the program waits for the last checkpoint's command") {
    NEEDS_TRAIN();
    NEEDS_MOUNTS();
    const TemporaryFolder folder;
    const fs::path copied = folder / "copied";
    const CommandResult result =
        run_command(concat("unshare --map-root-user --pid --fork --kill-child ",
                           train_command(finished_run().config, folder / "run", on_last("sleep 0.5; touch " + copied.string()))));
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(fs::exists(copied));
}

TEST_CASE("a command that hangs is reported and ended after checkpoint.after_save_seconds") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const CommandResult result =
        train(finished_run().config, folder / "run", on_last("sleep 1000") + "--set checkpoint.after_save_seconds=1");
    CHECK(result.exit_code == 0);
    CHECK(missing_words(result.err, {"checkpoint.after_save of step 20 has run for 1 s", "after_save_seconds"}) == "");
}

TEST_CASE("a run stopped by a signal waits for commands until checkpoint.stop_grace_seconds, and leaves them running") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run", go = folder / "go", began = folder / "began", done = folder / "done";
    for (const fs::path& counted : {began, done}) fs::create_directory(counted);  // at most two commands run at a time
    const std::string command = concat("touch ", (began / "$$").string(), "; while [ -e ", run.string(), " ] && [ ! -e ",
                                       go.string(), " ]; do sleep 0.01; done; touch ", (done / "$$").string());
    const auto count = [](const fs::path& counted) {
        return std::distance(fs::directory_iterator(counted), fs::directory_iterator());
    };
    Process process(train_command(finished_run().config, run,
                                  concat("--set schedule.total_steps=100000 --set checkpoint.stop_grace_seconds=0.5 ",
                                         "--set 'checkpoint.after_save=", command, "'")));
    REQUIRE(wait_until(process, [&] { return count(began) > 0; }));
    process.send(SIGTERM);
    CHECK(process.wait() == 128 + SIGTERM);
    CHECK(missing_words(read_text(run / "log.txt"), {"is still running, and the run ends without waiting longer"}) == "");
    CHECK(count(done) == 0);
    write_text(go, "");
    for (int i = 0; i < 6000 && count(done) < count(began); ++i) sleep_seconds(0.01);
    CHECK(count(done) == count(began));
}
