#include "core/task_pool.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("tasks give their results in any order in which they are asked for, whatever the number of threads") {
    const auto threads = GENERATE(as<std::size_t>(), 1, 2, 5);
    TaskPool pool(threads);
    CHECK(pool.threads() == threads);
    std::vector<std::future<int>> results;
    for (int i = 0; i < 100; ++i) results.push_back(pool.submit([i] { return i * i; }));
    for (int i = 99; i >= 0; --i) CHECK(pool.wait(results[static_cast<std::size_t>(i)]) == i * i);
}

TEST_CASE("what a task throws is thrown where its result is taken, and the other tasks go on") {
    TaskPool pool(2);
    auto fails = pool.submit([]() -> int { throw std::runtime_error("it failed"); });
    auto works = pool.submit([] { return 7; });
    CHECK(pool.wait(works) == 7);
    CHECK_THROWS_WITH(pool.wait(fails), "it failed");
}

TEST_CASE("a pool that goes away drops the tasks that have not begun") {
    std::atomic<int> ran{0};
    {
        TaskPool pool(1);
        for (int i = 0; i < 10; ++i) pool.submit([&] { return ++ran; });
    }
    CHECK(ran == 0);
}
