// Signals other than SIGTERM, SIGINT and SIGUSR1: some stop the run after a save, some end it at once, some are ignored.

#include <csignal>

#include "system/run_progress.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Returns a command line that runs `command` with a signal ignored, as `nohup` does.
std::string ignoring(const std::string& signal, const std::string& command) {
    return concat("env --ignore-signal=", signal, " ", command);
}

fs::path endless_experiment(const TemporaryFolder& folder) {
    return write_experiment(folder, {{"schedule", {{"total_steps", 100000}}}, {"checkpoint", {{"save_every_steps", 0}}}});
}

/// Checks that the same command resumes from the last step that the run has recorded.
void check_was_saved(const fs::path& config, const fs::path& run, const std::string& options = "") {
    const std::size_t step = steps_of(run);
    const CommandResult rest = train(config, run, concat(options, " --set schedule.total_steps=", step + 1));
    CHECK(missing_words(rest.err, {concat("going on from step ", step)}) == "");
}

}  // namespace

TEST_CASE("a run saves and exits on a closed terminal, a batch system's warning and an alarm") {
    NEEDS_TRAIN();
    for (const int signal : {SIGHUP, SIGUSR2, SIGXCPU, SIGALRM}) {
        CAPTURE(signal);
        const TemporaryFolder folder;
        const fs::path config = endless_experiment(folder), run = folder / "run";
        Process process(concat("bash -c 'ulimit -c 0; exec ", train_command(config, run), "'"));
        REQUIRE(wait_until(process, [&] { return steps_of(run) >= 4; }));
        process.send(signal);
        CHECK(wait_for_end(process) == 128 + signal);
        CHECK(recorded_code(run) == 128 + signal);
        check_was_saved(config, run);
    }
}

TEST_CASE("a closed terminal stops every rank of --local-ranks after a save") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = endless_experiment(folder), run = folder / "run";
    Process process(train_command(config, run, "--local-ranks 2"));
    REQUIRE(wait_until(process, [&] { return steps_of(run) >= 4; }));
    process.send(SIGHUP);
    CHECK(wait_for_end(process) == 128 + SIGHUP);
    CHECK(recorded_code(run) == 128 + SIGHUP);
    check_was_saved(config, run, "--local-ranks 2");
}

TEST_CASE("a run started by nohup continues when its terminal is closed, with local ranks too") {
    NEEDS_TRAIN();
    for (const std::string options : {"", "--local-ranks 2"}) {
        CAPTURE(options);
        const TemporaryFolder folder;
        const fs::path run = folder / "run";
        Process process(ignoring("HUP", train_command(endless_experiment(folder), run, options)));
        REQUIRE(wait_until(process, [&] { return steps_of(run) >= 4; }));
        for (const pid_t rank : children_of(process.pid())) ::kill(rank, SIGHUP);
        process.send(SIGHUP);
        const std::size_t then = steps_of(run);
        CHECK(wait_until(process, [&] { return steps_of(run) >= then + 20; }));
        process.send(SIGTERM);
        CHECK(wait_for_end(process) == 143);
    }
}

TEST_CASE("SIGQUIT ends a run at once, without a save") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    Process process(concat("bash -c 'ulimit -c 0; exec ", train_command(endless_experiment(folder), run), "'"));
    REQUIRE(wait_until(process, [&] { return steps_of(run) >= 4; }));
    process.send(SIGQUIT);
    CHECK(wait_for_end(process) == 128 + SIGQUIT);
    CHECK(complete_checkpoints(run) == 0);
}

TEST_CASE("the end of ranks is noticed although the program was started with SIGCHLD ignored") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, {{"schedule", {{"total_steps", 2}}}});
    Process process(ignoring("CHLD", train_command(config, folder / "run", "--local-ranks 2")));
    CHECK(wait_for_end(process) == 0);
}

TEST_CASE("checkpoint.after_save runs with SIGPIPE's default action") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string command = concat("sh -c 'kill -PIPE $$'; echo $? >> ", (folder / "status").string());
    const fs::path config =
        write_experiment(folder, {{"schedule", {{"total_steps", 2}}}, {"checkpoint", {{"after_save", command}}}});
    REQUIRE(train(config, folder / "run").exit_code == 0);
    Process nothing("sleep 20");
    REQUIRE(wait_until(nothing, [&] { return !lines_so_far(folder / "status").empty(); }));
    CHECK(lines_so_far(folder / "status").front() == std::to_string(128 + SIGPIPE));
}
