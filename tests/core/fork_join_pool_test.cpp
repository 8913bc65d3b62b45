#include "core/threads/fork_join_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <vector>

#include <pthread.h>

#include "support/catch.h"

using namespace bertpretrain;

namespace {

/// Lets other threads run until `condition` holds.
template <class Condition>
void wait_until(const Condition& condition) {
    while (!condition()) std::this_thread::yield();
}

std::atomic<bool> is_held{false}, is_released{false};

/// Holds a thread as a scheduler does that gives its core to another process.
void hold(int) {
    is_held = true;
    while (!is_released) {}
}

/// Returns a helper, which has begun a task.
pthread_t helper_of(ForkJoinPool& pool) {
    std::atomic<bool> begun{false};
    pthread_t helper{};
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    pool.run(2, [&](std::size_t thread) {
        if (thread == 1) {
            helper = ::pthread_self();
            begun = true;
        } else {
            wait_until([&] { return begun || std::chrono::steady_clock::now() > limit; });
        }
    });
    REQUIRE(begun);
    return helper;
}

}  // namespace

TEST_CASE("a pool calls a task once on its owner and at most once on each helper") {
    const auto threads = GENERATE(as<std::size_t>(), 1, 2, 5);
    ForkJoinPool pool(threads);
    CHECK(pool.threads() == threads);
    for (int task = 0; task < 5000; ++task) {
        std::vector<std::atomic<int>> of(threads);
        pool.run(threads, [&](std::size_t thread) { ++of[thread]; });
        REQUIRE(of[0] == 1);
        for (const std::atomic<int>& calls : of) REQUIRE(calls <= 1);
    }
}

TEST_CASE("a task for fewer threads than the pool has leaves the other helpers out") {
    ForkJoinPool pool(4);
    std::atomic<std::size_t> largest{0};
    for (int task = 0; task < 1000; ++task)
        pool.run(2, [&](std::size_t thread) { largest = std::max<std::size_t>(largest, thread); });
    CHECK(largest <= 1);
}

TEST_CASE("a helper that sleeps is woken by a task") {
    ForkJoinPool pool(5);  // with more sleepers than the task has threads
    const pthread_t helper = helper_of(pool);
    for (int i = 0; i < 20; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        CHECK(::pthread_equal(helper_of(pool), helper));
    }
}

TEST_CASE("a task waits for a helper that has begun it, also where the owner must sleep until then") {
    ForkJoinPool pool(2);
    std::atomic<bool> begun{false}, ended{false};
    pool.run(2, [&](std::size_t thread) {
        if (thread == 0) return wait_until([&] { return begun.load(); });
        begun = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ended = true;
    });
    CHECK(ended);
}

TEST_CASE("a task does not wait for a helper that has lost its core before it") {
    ForkJoinPool pool(2);
    const pthread_t helper = helper_of(pool);
    struct sigaction held {
    }, before{};
    held.sa_handler = hold;
    REQUIRE(::sigaction(SIGUSR2, &held, &before) == 0);
    is_held = is_released = false;
    REQUIRE(::pthread_kill(helper, SIGUSR2) == 0);
    wait_until([] { return is_held.load(); });
    int calls = 0;
    for (int task = 0; task < 100; ++task) pool.run(2, [&](std::size_t) { ++calls; });
    CHECK(calls == 100);
    is_released = true;
    helper_of(pool);  // helps again
    REQUIRE(::sigaction(SIGUSR2, &before, nullptr) == 0);
}

TEST_CASE("an exception on any thread of a pool reaches the owner, and the pool goes on") {
    ForkJoinPool pool(2);
    const auto fails = static_cast<std::size_t>(GENERATE(0, 1));
    std::atomic<bool> begun{false};
    const auto fail = [&](std::size_t thread) {
        if (thread == 1) begun = true;
        wait_until([&] { return begun.load(); });
        if (thread == fails) throw std::runtime_error("it failed");
    };
    CHECK_THROWS_WITH(pool.run(2, fail), "it failed");
    helper_of(pool);
}
