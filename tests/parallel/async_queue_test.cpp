#include "parallel/async_queue.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>

#include "core/clock.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

using Act = std::function<void()>;

/// A task that calls `arrive` while it is in flight.
AsyncTask task(Act arrive, Act finish = nullptr, bool sends_results = false) {
    return {[arrive = std::move(arrive)] { return arrive; }, std::move(finish), sends_results};
}

void sleep(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

}  // namespace

TEST_CASE("tasks are begun and finished in the order in which they were sent") {
    AsyncQueue queue;
    std::vector<int> begun, finished;
    std::vector<std::unique_ptr<Pending>> pending;
    for (int i = 0; i < 50; ++i)
        pending.push_back(queue.send({[&begun, i] {
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

TEST_CASE("the second task is in flight while the first one is finished, the third is not") {
    AsyncQueue queue;
    std::atomic<int> begun = 0;
    std::atomic<bool> release = false;
    const auto begin = [&] {
        ++begun;
        return Act([] {});
    };
    const auto first = queue.send({begin, [&] {
                                       while (!release) sleep(1);
                                   }});
    const auto second = queue.send({begin, nullptr}), third = queue.send({begin, nullptr});
    sleep(20);
    CHECK(begun == 2);
    release = true;
    third->wait();
    CHECK(begun == 3);
}

TEST_CASE("a task that sends results begins when the earlier ones are finished") {
    AsyncQueue queue;
    std::atomic<bool> finished = false, seen = false;
    const auto sum = queue.send(task([] {},
                                     [&] {
                                         sleep(20);
                                         finished = true;
                                     }));
    const auto gather = queue.send({[&] {
                                        seen = finished.load();
                                        return Act([] {});
                                    },
                                    nullptr, true});
    gather->wait();
    CHECK(seen);
}

TEST_CASE("after a task has failed, it and all later ones fail in wait(), and none of them is finished") {
    AsyncQueue queue;
    std::atomic<bool> later = false;
    const auto good = queue.send(task([] {}));
    const auto bad = queue.send(task([] { throw std::runtime_error("the link is down"); }));
    const auto after = queue.send(task([] {}, [&] { later = true; }));
    good->wait();
    CHECK_THROWS_WITH(bad->wait(), "the link is down");
    CHECK_THROWS_WITH(after->wait(), "the link is down");
    CHECK_FALSE(later);
}

TEST_CASE("a task that cannot begin fails in wait()") {
    AsyncQueue queue;
    const auto bad = queue.send({[]() -> Act { throw std::runtime_error("no socket"); }, nullptr});
    CHECK_THROWS_WITH(bad->wait(), "no socket");
}

TEST_CASE("time in flight and time spent waiting are counted separately") {
    AsyncQueue queue;
    std::atomic<bool> arrived = false;
    const auto pending = queue.send(task([&] {
        sleep(300);
        arrived = true;
    }));
    while (!arrived) sleep(1);  // a busy machine may begin the task late
    const double begin = seconds_now();
    pending->wait();
    const double waited = seconds_now() - begin;  // nearly nothing, unless the machine is busy
    CHECK(queue.busy_seconds() >= 0.3);
    CHECK(queue.waited_seconds() <= waited);
}

TEST_CASE("a queue with a task that hangs does not block an exception that propagates") {
    std::atomic<bool> release = false;
    const auto begin = std::chrono::steady_clock::now();
    try {
        AsyncQueue queue;
        const auto hangs = queue.send(task([&] {
            while (!release) sleep(1);
        }));
        throw std::runtime_error("something else");
    } catch (const std::runtime_error&) {}
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));  // joining the thread would block forever
    release = true;
    sleep(50);  // the thread may still read `release`
}
