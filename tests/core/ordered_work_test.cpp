#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/threads/threads.h"
#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("results are consumed in order, one at a time, even when they take different times to produce") {
    for (const std::size_t threads : {std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
        std::vector<std::size_t> order;
        std::atomic<int> inside = 0;
        std::atomic<bool> alone = true;
        for_each_in_order(
            100, threads,
            [](std::size_t i) {
                if (i % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
                return i * i;
            },
            [&](std::size_t i, std::size_t square) {
                if (++inside > 1 || square != i * i) alone = false;
                order.push_back(i);
                --inside;
            });
        CHECK(alone);
        REQUIRE(order.size() == 100);
        for (std::size_t i = 0; i < 100; ++i) CHECK(order[i] == i);
    }
    for_each_in_order(
        0, 3, [](std::size_t i) { return i; }, [](std::size_t, std::size_t) { FAIL("there is nothing to consume"); });
}

TEST_CASE("an exception while producing or consuming a result ends the work and is rethrown") {
    for (const bool while_making : {true, false}) {
        std::size_t consumed = 0;
        const auto work = [&] {
            for_each_in_order(
                1000, 4,
                [&](std::size_t i) {
                    if (while_making && i == 20) throw std::runtime_error("made");
                    return i;
                },
                [&](std::size_t i, std::size_t) {
                    if (!while_making && i == 20) throw std::runtime_error("taken");
                    consumed = i + 1;
                });
        };
        CHECK_THROWS_AS(work(), std::runtime_error);
        CHECK(consumed <= 20);
    }
}
