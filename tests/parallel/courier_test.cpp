#include "parallel/courier.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>

#include "support/catch.h"

using namespace bertpretrain;

namespace {

using Act = std::function<void()>;

/// An errand that does `arrive` while it is under way.
Errand errand(Act arrive, Act finish = nullptr, bool sends_results = false) {
    return {[arrive = std::move(arrive)] { return arrive; }, std::move(finish), sends_results};
}

void sleep(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

}  // namespace

TEST_CASE("errands are begun and finished in the order in which they were sent") {
    Courier courier;
    std::vector<int> begun, finished;
    std::vector<std::unique_ptr<Pending>> pending;
    for (int i = 0; i < 50; ++i)
        pending.push_back(courier.send({[&begun, i] {
                                            begun.push_back(i);
                                            return Act([] {});
                                        },
                                        [&finished, i] { finished.push_back(i); }, i % 3 == 0}));
    pending.back()->wait();
    std::vector<int> expected(50);
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(begun == expected);
    CHECK(finished == expected);
}

TEST_CASE("the second errand is under way while the first one is finished, the third is not") {
    Courier courier;
    std::atomic<int> begun = 0;
    std::atomic<bool> release = false;
    const auto begin = [&] {
        ++begun;
        return Act([] {});
    };
    const auto first = courier.send({begin, [&] {
                                         while (!release) sleep(1);
                                     }});
    const auto second = courier.send({begin, nullptr}), third = courier.send({begin, nullptr});
    sleep(20);
    CHECK(begun == 2);
    release = true;
    third->wait();
    CHECK(begun == 3);
}

TEST_CASE("what sends results begins when those before it are finished") {
    Courier courier;
    std::atomic<bool> finished = false, seen = false;
    const auto sum = courier.send(errand([] {},
                                         [&] {
                                             sleep(20);
                                             finished = true;
                                         }));
    const auto gather = courier.send({[&] {
                                          seen = finished.load();
                                          return Act([] {});
                                      },
                                      nullptr, true});
    gather->wait();
    CHECK(seen);
}

TEST_CASE("after an errand has failed, it and all later ones fail in wait(), and none of them is finished") {
    Courier courier;
    std::atomic<bool> later = false;
    const auto good = courier.send(errand([] {}));
    const auto bad = courier.send(errand([] { throw std::runtime_error("the link is down"); }));
    const auto after = courier.send(errand([] {}, [&] { later = true; }));
    good->wait();
    CHECK_THROWS_WITH(bad->wait(), "the link is down");
    CHECK_THROWS_WITH(after->wait(), "the link is down");
    CHECK_FALSE(later);
}

TEST_CASE("an errand that cannot begin fails in wait()") {
    Courier courier;
    const auto bad = courier.send({[]() -> Act { throw std::runtime_error("no socket"); }, nullptr});
    CHECK_THROWS_WITH(bad->wait(), "no socket");
}

TEST_CASE("time under way and time waited for are told apart") {
    Courier courier;
    std::atomic<bool> arrived = false;
    const auto pending = courier.send(errand([&] {
        sleep(300);
        arrived = true;
    }));
    while (!arrived) sleep(1);  // however late a busy machine lets the courier begin
    pending->wait();
    CHECK(courier.busy_seconds() >= 0.3);
    CHECK(courier.waited_seconds() < 0.2);
}

TEST_CASE("a courier with an errand that hangs does not hold up an error on its way") {
    std::atomic<bool> release = false;
    const auto begin = std::chrono::steady_clock::now();
    try {
        Courier courier;
        const auto hangs = courier.send(errand([&] {
            while (!release) sleep(1);
        }));
        throw std::runtime_error("something else");
    } catch (const std::runtime_error&) {}
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));  // it would be for ever
    release = true;
    sleep(50);  // `release` is read until then
}
