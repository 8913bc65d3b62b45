#include "core/threads/core_waiting.h"

#include <ctime>
#include <latch>
#include <thread>
#include <vector>

#include <sched.h>

#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

/// Restricts the calling thread to one of its cores, the same for every caller.
void share_one_core() {
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    check(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "sched_getaffinity");  // Catch2 is not for several threads
    for (std::size_t core = 0; CPU_COUNT(&one) == 0; ++core)
        if (CPU_ISSET(core, &allowed)) CPU_SET(core, &one);
    check(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
}

/// Returns the seconds for which the calling thread has computed. They do not pass while the process is stopped.
double own_seconds() {
    timespec time{};
    check(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0, "clock_gettime");
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

TEST_CASE("of three threads that share a core, two wait for it at any time") {
    const auto before = seconds_without_core();
    REQUIRE(before.has_value());
    std::latch all_began(3), all_ended(3), measured(1);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            share_one_core();
            all_began.arrive_and_wait();
            for (const double end = own_seconds() + 0.1; own_seconds() < end;) {}
            all_ended.count_down();
            measured.wait();  // a thread that has ended is not counted any more
        });
    all_ended.wait();
    // One computes 0.1 s after the other in any order: they wait for 0.1 s and 0.2 s at least, and longer if they take turns.
    CHECK(*seconds_without_core() - *before > 0.25);
    measured.count_down();
}
