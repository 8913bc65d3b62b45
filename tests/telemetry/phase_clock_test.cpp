#include "telemetry/phase_clock.h"

#include <chrono>
#include <numeric>
#include <thread>

#include "core/clock.h"
#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("the phases' seconds add up to the time since the first phase, and are returned once") {
    PhaseClock clock;
    const double begin = seconds_now();
    for (const Phase phase : {Phase::data, Phase::forward, Phase::backward, Phase::forward}) {
        clock.enter(phase);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const PhaseSeconds seconds = clock.take_seconds();
    const double took = seconds_now() - begin;
    const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    CHECK(sum >= 0.020);
    CHECK(sum <= took);
    CHECK(seconds[static_cast<std::size_t>(Phase::forward)] >= 0.010);
    CHECK(seconds[static_cast<std::size_t>(Phase::saving)] == 0);
    clock.enter(Phase::none);
    clock.take_seconds();
    CHECK(clock.take_seconds()[static_cast<std::size_t>(Phase::forward)] == 0);
}

TEST_CASE("another thread sees the phase, and sees when the same one is entered again") {
    PhaseClock clock;
    CHECK(clock.look().phase == Phase::none);
    clock.enter(Phase::saving);
    const PhaseClock::Look first = clock.look();
    CHECK(first.phase == Phase::saving);
    CHECK(clock.look() == first);
    clock.enter(Phase::saving);
    CHECK(clock.look() != first);
    CHECK(clock.look().phase == Phase::saving);
}

TEST_CASE("a heartbeat of a save counts while the phase is saving, and does not hide a hang in another phase") {
    std::function<void()> sign;
    {
        PhaseClock clock;
        sign = clock.sign_of_saving();
        clock.enter(Phase::saving);
        const PhaseClock::Look before = clock.look();
        sign();
        CHECK_FALSE(clock.look() == before);
        clock.enter(Phase::forward);
        const PhaseClock::Look forward = clock.look();
        sign();
        CHECK(clock.look() == forward);
    }
    sign();  // the saving thread may outlive the clock
}
