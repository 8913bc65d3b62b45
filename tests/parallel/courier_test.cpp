#include "parallel/courier.h"

#include <atomic>
#include <chrono>
#include <stdexcept>

#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("jobs are done one after the other, in order, beside the one who sends them") {
    Courier courier;
    std::vector<int> done;
    std::vector<std::unique_ptr<Pending>> pending;
    for (int i = 0; i < 50; ++i) pending.push_back(courier.send([&done, i] { done.push_back(i); }));
    pending.back()->wait();
    REQUIRE(done.size() == 50);
    for (int i = 0; i < 50; ++i) CHECK(done[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("after a job has failed, it and all later ones fail in wait(), and none of them is done") {
    Courier courier;
    std::atomic<bool> later = false;
    const auto good = courier.send([] {}), bad = courier.send([] { throw std::runtime_error("the link is down"); });
    const auto after = courier.send([&] { later = true; });
    good->wait();
    CHECK_THROWS_WITH(bad->wait(), "the link is down");
    CHECK_THROWS_WITH(after->wait(), "the link is down");
    CHECK_FALSE(later);
}

TEST_CASE("time under way and time waited for are told apart") {
    Courier courier;
    const auto nap = [] { std::this_thread::sleep_for(std::chrono::milliseconds(60)); };
    const auto pending = courier.send(nap);
    nap();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pending->wait();
    CHECK(courier.busy_seconds() >= 0.06);
    CHECK(courier.waited_seconds() < 0.05);
}

TEST_CASE("a courier with a job that hangs does not hold up an error on its way") {
    std::atomic<bool> release = false;
    const auto begin = std::chrono::steady_clock::now();
    try {
        Courier courier;
        const auto hangs = courier.send([&] {
            while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
        throw std::runtime_error("something else");
    } catch (const std::runtime_error&) {}
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(500));
    release = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // `release` is read until then
}
