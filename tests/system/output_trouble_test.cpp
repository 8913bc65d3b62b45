// Standard output and standard error that are closed, full, or not read.

#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

#include "system/run_progress.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// File descriptor 9 of this process, which commands inherit and use as `>&9`.
class Nine {
public:
    explicit Nine(int descriptor) {
        ::dup2(descriptor, 9);
        ::close(descriptor);
    }
    Nine(const Nine&) = delete;
    Nine& operator=(const Nine&) = delete;
    ~Nine() { ::close(9); }
};

/// The write end of a pipe whose reader has closed it.
int dead_pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    ::close(ends[0]);
    return ends[1];
}

/// Fills the pipe or terminal of descriptor 9, so that the next write to it blocks.
void fill_nine() {
    const int same = ::open("/proc/self/fd/9", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    REQUIRE(same >= 0);
    while (::write(same, "x", 1) == 1) {}
    CHECK(errno == EAGAIN);
    ::close(same);
}

/// Trains with descriptor 9 as standard error, fills it, and stops the run by a signal.
void check_trains_and_stops() {
    const TemporaryFolder folder;
    const fs::path run = folder / "run";
    const fs::path config =
        write_experiment(folder, {{"schedule", {{"total_steps", 100000}}}, {"evaluation", {{"every_steps", 5}}}});
    Process process(concat("sh -c 'exec ", train_command(config, run), " 2>&9'"));
    REQUIRE(wait_until(process, [&] { return steps_of(run) >= 4; }));
    fill_nine();
    const std::size_t then = steps_of(run);
    REQUIRE(wait_until(process, [&] { return steps_of(run) >= then + 50; }));  // with ten evaluation lines between them
    process.send(SIGTERM);
    CHECK(wait_for_end(process) == 143);
    CHECK(recorded_code(run) == 143);
    CHECK(missing_words(read_text(run / "log.txt"), {"stopped by signal 15", concat("held-out step ", (then / 5 + 2) * 5)}) ==
          "");
}

}  // namespace

TEST_CASE("a pipe on standard error that is not read delays neither training nor a stop") {
    NEEDS_TRAIN();
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const Nine nine(ends[1]);
    check_trains_and_stops();
    ::close(ends[0]);
}

TEST_CASE("a terminal whose output was halted delays neither training nor a stop") {
    NEEDS_TRAIN();
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(terminal >= 0);
    REQUIRE(::grantpt(terminal) == 0);
    REQUIRE(::unlockpt(terminal) == 0);
    {
        const Nine nine(::open(::ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC));
        check_trains_and_stops();
    }
    ::close(terminal);
}

TEST_CASE("a run whose output has no reader any more trains to its end") {
    NEEDS_TRAIN();
    const Nine nine(dead_pipe());
    for (const std::string options : {"", "--local-ranks 2"}) {
        const TemporaryFolder folder;
        const CommandResult result = train(finished_run().config, folder / "run", options + " >&9 2>&9");
        CHECK(result.exit_code == 0);
        CHECK(complete_checkpoints(folder / "run") == complete_checkpoints(finished_run().run));
    }
}

TEST_CASE("a command whose output has no reader any more ends with 141 and without a message") {
    NEEDS_TRAIN();
    const Nine nine(dead_pipe());
    for (const std::string& command : {train_program + " config explain",
                                       train_program + " inspect " + finished_run().run.string(), data_program + " --help"}) {
        CAPTURE(command);
        const CommandResult result = run_command(command + " >&9");
        CHECK(result.exit_code == 141);
        CHECK(result.err == "");
    }
}

TEST_CASE("a command whose result does not fit on the disk reports that, and ends with 3") {
    NEEDS_TRAIN();
    const CommandResult result = run_command(train_program + " config explain >/dev/full");
    CHECK(result.exit_code == 3);
    CHECK(missing_words(result.err, {"standard output", "No space left on device"}) == "");
}
