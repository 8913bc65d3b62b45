#include "telemetry/writer_thread.h"

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

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
        WriterThread writer(1000);
        for (int i = 0; i < 500; ++i) writer.post([&done, i] { done.push_back(i); });
        writer.drain();
        CHECK(done.size() == 500);
        for (int i = 500; i < 600; ++i) writer.post([&done, i] { done.push_back(i); });
    }
    REQUIRE(done.size() == 600);
    for (int i = 0; i < 600; ++i) CHECK(done[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("while a disk hangs, posting returns at once until the queue is full, then try_post drops work and post waits") {
    Gate disk;
    WriterThread writer(3);
    writer.post([&] { disk.pass(); });
    int posted = 0;
    while (writer.try_post([] {})) ++posted;  // the thread may or may not have taken the first item out of the queue
    CHECK((posted == 2 || posted == 3));
    CHECK_FALSE(writer.drain_for(0.01));
    std::thread opener([&] { disk.open(); });
    CHECK_NOTHROW(writer.post([] {}));
    writer.drain();
    opener.join();
}

TEST_CASE("an exception of posted work is rethrown by the next post and by drain") {
    WriterThread writer(10);
    writer.post([] { throw DataError("the disk is full"); });
    CHECK_THROWS_AS(writer.drain(), DataError);
    CHECK_THROWS_WITH(writer.post([] {}), Catch::Contains("the disk is full"));
    CHECK(writer.drain_for(60));
}

TEST_CASE("a drainer may be called after the WriterThread is destroyed") {
    std::function<void()> drain;
    bool done = false;
    {
        WriterThread writer(10);
        drain = writer.drainer();
        writer.post([&] { done = true; });
    }
    CHECK(done);
    CHECK_NOTHROW(drain());
}
