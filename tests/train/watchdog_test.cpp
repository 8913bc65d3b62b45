#include "train/watchdog.h"

#include <chrono>
#include <future>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST_CASE("signs of life, nothing to do, and a limit of 0 are no hang") {
    WatchdogConfig limits = patient();
    limits.data_seconds = 1;
    limits.forward_seconds = 0;
    PhaseClock clock;
    bool hung = false;
    Watchdog watchdog(limits, clock, [&](const std::string&) { hung = true; });
    watchdog.first_step_is_done();
    for (int i = 0; i < 15; ++i) {
        clock.enter(Phase::data);
        sleep_seconds(0.1);
    }
    clock.enter(Phase::forward);
    sleep_seconds(0.1);
    clock.enter(Phase::none);
    sleep_seconds(0.1);
    CHECK_FALSE(hung);
}

TEST_CASE("time in which the process itself was stopped is no hang") {
    const pid_t child = ::fork();
    if (child == 0) {
        WatchdogConfig limits = patient();
        limits.data_seconds = 1;
        PhaseClock clock;
        Watchdog watchdog(limits, clock, [](const std::string&) { ::_exit(5); });
        watchdog.first_step_is_done();
        clock.enter(Phase::data);
        sleep_seconds(0.2);
        ::raise(SIGSTOP);
        sleep_seconds(0.2);
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, WUNTRACED);
    REQUIRE(WIFSTOPPED(status));
    sleep_seconds(1.5);
    ::kill(child, SIGCONT);
    ::waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a watchdog that would not let a lost peer be named is refused") {
    const std::string config = PROJECT_FOLDER "/configs/quickstart.json";
    const auto shards = std::string("data.training_shards=shards");
    CHECK_NOTHROW(load_experiment(config, {shards, "watchdog.communication_seconds=0"}));
    CHECK_THROWS_WITH(load_experiment(config, {shards, "parallel.timeout_seconds=900"}),
                      Catch::Contains("watchdog.communication_seconds") && Catch::Contains("parallel.timeout_seconds"));
}
