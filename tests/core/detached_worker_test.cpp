#include "core/threads/detached_worker.h"

#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

/// Blocks until open(), like a hanging disk.
class Gate {
public:
    void pass() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_open_; });
    }
    void open() {
        const std::lock_guard lock(mutex_);
        is_open_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = false;
};

}  // namespace

TEST_CASE("posted work runs in order, and completes before drain() and the destructor return") {
    std::vector<int> done;
    {
        DetachedWorker worker(60);
        for (int i = 0; i < 500; ++i) worker.post([&done, i] { done.push_back(i); });
        worker.drain();
        CHECK(done.size() == 500);
        for (int i = 500; i < 600; ++i) worker.post([&done, i] { done.push_back(i); });
    }
    REQUIRE(done.size() == 600);
    for (int i = 0; i < 600; ++i) CHECK(done[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("while a disk hangs, posting returns at once until the queue is full, then try_post drops work and post waits") {
    Gate disk;
    DetachedWorker worker(60, 3);
    worker.post([&] { disk.pass(); });
    int posted = 0;
    while (worker.try_post([] {})) ++posted;  // the thread may or may not have taken the first item out of the queue
    CHECK((posted == 2 || posted == 3));
    CHECK_FALSE(worker.drain_for(0.01));
    std::thread opener([&] { disk.open(); });
    CHECK_NOTHROW(worker.post([] {}));
    worker.drain();
    opener.join();
}

TEST_CASE("an exception of posted work is rethrown by the next post and by drain") {
    DetachedWorker worker(60);
    worker.post([] { throw DataError("the disk is full"); });
    CHECK_THROWS_AS(worker.drain(), DataError);
    CHECK_THROWS_WITH(worker.post([] {}), Catch::Contains("the disk is full"));
    CHECK(worker.drain_for(60));
}

TEST_CASE("a drainer may be called after the DetachedWorker is destroyed") {
    std::function<void()> drain;
    bool done = false;
    {
        DetachedWorker worker(60);
        drain = worker.drainer();
        worker.post([&] { done = true; });
    }
    CHECK(done);
    CHECK_NOTHROW(drain());
}

TEST_CASE("the destructor waits no longer than its farewell, and hanging work still ends after it") {
    const auto disk = std::make_shared<Gate>();
    const auto ended = std::make_shared<std::promise<void>>();
    const double begin = seconds_now();
    {
        DetachedWorker worker(0.05);
        worker.post([disk] { disk->pass(); });
        worker.post([ended] { ended->set_value(); });
    }
    {
        DetachedWorker worker(DetachedWorker::for_ever);
        worker.post([disk] { disk->pass(); });
        worker.abandon();
    }
    CHECK(seconds_now() - begin < 10);
    disk->open();
    ended->get_future().get();
}
