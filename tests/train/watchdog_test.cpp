#include "train/stop/watchdog.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "plan/experiment_config.h"
#include "support/catch.h"
#include "support/process.h"

using namespace bertpretrain;
using testing::sleep_seconds;

namespace {

/// Limits far above what these tests take.
WatchdogConfig patient() {
    WatchdogConfig limits;
    for_each_field(limits, [](const FieldInfo&, double& seconds) { seconds = 600; });
    return limits;
}

/// What a watchdog says of a clock that enters `phase` and stays there.
std::string said_of(const WatchdogConfig& limits, Phase phase, bool first_step_is_done) {
    PhaseClock clock;
    std::promise<std::string> said;
    Watchdog watchdog(limits, clock, [&](const std::string& what) { said.set_value(what); });
    if (first_step_is_done) watchdog.first_step_is_done();
    clock.enter(phase);
    auto answer = said.get_future();
    return answer.wait_for(std::chrono::seconds(30)) == std::future_status::ready ? answer.get() : "nothing";
}

}  // namespace

TEST_CASE("each phase is taken for hung by its own limit, and named with its setting") {
    for (const Phase phase :
         {Phase::data, Phase::forward, Phase::backward, Phase::communication, Phase::update, Phase::saving, Phase::evaluation}) {
        WatchdogConfig limits = patient();
        const std::string setting = std::string(name_of(phase)) + "_seconds";
        for_each_field(limits, [&](const FieldInfo& field, double& seconds) {
            if (field.name == setting) seconds = 0.05;
        });
        const std::string said = said_of(limits, phase, true);
        CHECK(said.find("in " + std::string(name_of(phase))) != std::string::npos);
        CHECK(said.find("watchdog." + setting) != std::string::npos);
    }
}

TEST_CASE("until the first step is done its limit holds for every phase") {
    WatchdogConfig limits = patient();
    limits.first_step_seconds = 0.05;
    CHECK(said_of(limits, Phase::forward, false).find("watchdog.first_step_seconds") != std::string::npos);
}

TEST_CASE("signs of life, nothing to do, and a limit of 0 are no hang", "[system]") {
    WatchdogConfig limits = patient();
    limits.data_seconds = 1;
    limits.forward_seconds = 0;
    // A busy machine may keep this thread from giving a sign of life for a second: such a round shows nothing and is repeated.
    double longest_gap = 1;
    for (int round = 0; round < 20 && longest_gap >= 0.9; ++round) {
        PhaseClock clock;
        std::atomic<bool> hung = false;
        Watchdog watchdog(limits, clock, [&](const std::string&) { hung = true; });
        watchdog.first_step_is_done();
        longest_gap = 0;
        double then = seconds_now();
        for (int i = 0; i < 15; ++i) {
            clock.enter(Phase::data);
            sleep_seconds(0.1);
            const double now = seconds_now();
            longest_gap = std::max(longest_gap, now - then);
            then = now;
        }
        clock.enter(Phase::forward);
        longest_gap = std::max(longest_gap, seconds_now() - then);
        sleep_seconds(1.2);
        clock.enter(Phase::none);
        sleep_seconds(0.1);
        CHECK((!hung || longest_gap >= 0.9));
    }
}

TEST_CASE("time in which the process itself was stopped is no hang", "[system]") {
    constexpr int hung = 5, too_busy = 6;
    int code = too_busy;
    for (int round = 0; round < 20 && code == too_busy; ++round) {
        const pid_t child = ::fork();
        if (child == 0) {
            WatchdogConfig limits = patient();
            limits.data_seconds = 1;
            PhaseClock clock;
            // A machine so busy that 0.4 s of sleep take a second shows nothing.
            std::atomic<double> awake_since = seconds_now(), awake_before = 0;
            Watchdog watchdog(limits, clock, [&](const std::string&) {
                ::_exit(awake_before + seconds_now() - awake_since < 0.9 ? hung : too_busy);
            });
            watchdog.first_step_is_done();
            clock.enter(Phase::data);
            sleep_seconds(0.2);
            awake_before = seconds_now() - awake_since;
            ::raise(SIGSTOP);
            awake_since = seconds_now();
            sleep_seconds(0.2);
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, WUNTRACED);
        if (WIFSTOPPED(status)) {
            sleep_seconds(1.5);
            ::kill(child, SIGCONT);
            ::waitpid(child, &status, 0);
        }
        REQUIRE(WIFEXITED(status));
        code = WEXITSTATUS(status);
    }
    CHECK(code == 0);
}

TEST_CASE("a watchdog that would not let a lost peer be named is refused") {
    const std::string config = PROJECT_FOLDER "/configs/small.json";
    const auto shards = std::string("data.training_shards=shards");
    CHECK_NOTHROW(load_experiment(config, {shards, "watchdog.communication_seconds=0"}));
    CHECK_THROWS_WITH(load_experiment(config, {shards, "parallel.timeout_seconds=900"}),
                      Catch::Contains("watchdog.communication_seconds") && Catch::Contains("parallel.timeout_seconds"));
}
