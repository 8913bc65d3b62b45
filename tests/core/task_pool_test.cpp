#include "core/threads/task_pool.h"

#include <atomic>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "support/address_space.h"
#include "support/catch.h"
#include "support/skip.h"

using namespace bertpretrain;

TEST_CASE("results of tasks can be taken in any order, with any number of threads") {
    const auto threads = GENERATE(as<std::size_t>(), 1, 2, 5);
    TaskPool pool(threads);
    CHECK(pool.threads() == threads);
    std::vector<std::future<int>> results;
    for (int i = 0; i < 100; ++i) results.push_back(pool.submit([i] { return i * i; }));
    for (int i = 99; i >= 0; --i) CHECK(pool.wait(results[static_cast<std::size_t>(i)]) == i * i);
}

TEST_CASE("a task's exception is rethrown where its result is taken, and other tasks still run") {
    TaskPool pool(2);
    auto fails = pool.submit([]() -> int { throw std::runtime_error("it failed"); });
    auto works = pool.submit([] { return 7; });
    CHECK(pool.wait(works) == 7);
    CHECK_THROWS_WITH(pool.wait(fails), "it failed");
}

TEST_CASE("a destroyed pool drops the tasks that have not started") {
    std::atomic<int> ran{0};
    {
        TaskPool pool(1);
        for (int i = 0; i < 10; ++i) pool.submit([&] { return ++ran; });
    }
    CHECK(ran == 0);
}

TEST_CASE("a pool whose threads the system refuses ends those that it has started, and throws") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SKIP_TEST(testing::skip::sanitizer, "a sanitizer's shadow memory is larger than any limit on the address space");
#endif
    const testing::LimitedAddressSpace room(std::size_t{64} << 20);  // the stacks of a few threads
    CHECK_THROWS_AS(TaskPool(1000), std::system_error);
}
