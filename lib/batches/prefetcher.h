#pragma once
// A thread that makes items before they are needed.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace bertpretrain {

/// A queue of the items of positions first, first + 1, ... One background thread makes at most `depth` items ahead.
/// For one consumer. `make` runs on the background thread only, one call at a time.
template <class Item>
class Prefetcher {
public:
    /// Makes the item of a position. Must return soon after a stop is requested; that item is dropped.
    using Make = std::function<Item(std::int64_t position, const std::stop_token& stop)>;

    Prefetcher(Make make, std::size_t depth, std::int64_t first) : make_(std::move(make)), depth_(depth), position_(first) {
        start();
    }

    /// Returns the item at position() and increments position(); waits until it is made. An exception of `make` is thrown here in
    /// its item's turn, and by every later call until seek().
    Item next() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !ready_.empty() || failure_; });
        if (ready_.empty()) std::rethrow_exception(failure_);
        Item item = std::move(ready_.front());
        ready_.pop_front();
        ++position_;
        lock.unlock();
        changed_.notify_all();
        return item;
    }

    /// Waits for at most `most`. @returns whether next() will return or throw without waiting
    bool wait_for(std::chrono::milliseconds most) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, most, [&] { return !ready_.empty() || failure_; });
    }

    /// The position of the item that next() returns.
    std::int64_t position() const { return position_; }

    /// Continues at `position`. Items made ahead are dropped, unless `position` is the next one already.
    void seek(std::int64_t position) {
        {
            const std::lock_guard lock(mutex_);
            if (position == position_ && !failure_) return;
        }
        restart(position, [] {});
    }

    /// Calls `change` while `make` does not run, then continues at `position`. Items made ahead are dropped.
    void restart(std::int64_t position, const std::function<void()>& change) {
        thread_ = std::jthread();  // asks the running one to stop, and waits for it
        ready_.clear();
        failure_ = nullptr;
        position_ = position;
        change();
        start();
    }

private:
    void start() {
        thread_ = std::jthread([this, first = position_](const std::stop_token& stop) { run(stop, first); });
    }

    void run(const std::stop_token& stop, std::int64_t position) {
        try {
            for (;; ++position) {
                {
                    std::unique_lock lock(mutex_);
                    if (!changed_.wait(lock, stop, [&] { return ready_.size() < depth_; })) return;
                }
                Item item = make_(position, stop);
                if (stop.stop_requested()) return;
                const std::lock_guard lock(mutex_);
                ready_.push_back(std::move(item));
                changed_.notify_all();
            }
        } catch (...) {
            const std::lock_guard lock(mutex_);
            failure_ = std::current_exception();
            changed_.notify_all();
        }
    }

    const Make make_;
    const std::size_t depth_;
    std::int64_t position_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Item> ready_;
    std::exception_ptr failure_;
    std::jthread thread_;  ///< the last member: it ends before the members that it uses are destroyed
};

}  // namespace bertpretrain
