#include "batches/prefetcher.h"

#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>

#include "support/catch.h"

using namespace bertpretrain;
using namespace std::chrono_literals;

namespace {

/// Waits until `holds()` is true, at most a minute.
template <class Condition>
bool comes_true(const Condition& holds) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (!holds() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
    return holds();
}

}  // namespace

TEST_CASE("items arrive in order, and a limited number of them is made ahead") {
    std::atomic<std::int64_t> made{0};
    Prefetcher<std::string> prefetcher(
        [&](std::int64_t position, const std::stop_token&) {
            ++made;
            return std::to_string(position);
        },
        3, 10);
    CHECK(comes_true([&] { return made == 3; }));
    std::this_thread::sleep_for(20ms);
    CHECK(made == 3);
    for (std::int64_t position = 10; position < 60; ++position) {
        REQUIRE(prefetcher.position() == position);
        REQUIRE(prefetcher.next() == std::to_string(position));
        CHECK(made <= position - 10 + 1 + 3);
    }
}

TEST_CASE("an exception of the thread is thrown at its position, every time, until a seek") {
    Prefetcher<std::int64_t> prefetcher(
        [](std::int64_t position, const std::stop_token&) {
            if (position == 2) throw std::runtime_error("row 2");
            return position;
        },
        4, 0);
    CHECK(prefetcher.next() == 0);
    CHECK(prefetcher.next() == 1);
    CHECK_THROWS_WITH(prefetcher.next(), "row 2");
    CHECK_THROWS_WITH(prefetcher.next(), "row 2");
    CHECK(prefetcher.position() == 2);
    prefetcher.seek(3);
    CHECK(prefetcher.next() == 3);
}

TEST_CASE("a seek discards items made ahead, and never makes two items at once") {
    std::atomic<bool> is_making{false}, were_two{false};
    std::array<std::atomic<int>, 128> times_made{};
    Prefetcher<std::int64_t> prefetcher(
        [&](std::int64_t position, const std::stop_token&) {
            if (is_making.exchange(true)) were_two = true;
            std::this_thread::sleep_for(100us);
            is_making = false;
            ++times_made.at(static_cast<std::size_t>(position));
            return position;
        },
        2, 1);
    for (const std::int64_t position : {5, 100, 7, 1}) {
        prefetcher.seek(position);
        CHECK(prefetcher.next() == position);
        CHECK(prefetcher.next() == position + 1);
    }
    CHECK(comes_true([&] { return times_made[3] >= 1; }));
    const int made_before = times_made[3];
    prefetcher.seek(3);  // already the next position: its item is kept
    CHECK(prefetcher.next() == 3);
    CHECK(prefetcher.next() == 4);
    CHECK(times_made[3] == made_before);
    CHECK_FALSE(were_two);
}

TEST_CASE("the destructor asks the running call to stop and waits for it") {
    std::atomic<bool> has_begun{false}, has_ended{false};
    {
        Prefetcher<int> prefetcher(
            [&](std::int64_t, const std::stop_token& stop) {
                has_begun = true;
                while (!stop.stop_requested()) std::this_thread::sleep_for(100us);
                has_ended = true;
                return 0;
            },
            2, 0);
        REQUIRE(comes_true([&] { return has_begun.load(); }));
    }
    CHECK(has_ended);
}
