#include "core/threads/detached_worker.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

namespace bertpretrain {

struct DetachedWorker::State {
    const std::size_t most_waiting;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Work> waiting;
    std::uint64_t posted = 0, done = 0;
    std::exception_ptr failure;  ///< the first exception
    bool ends = false;

    explicit State(std::size_t most) : most_waiting(most) {}

    void add(Work work) {
        waiting.push_back(std::move(work));
        ++posted;
        changed.notify_all();
    }

    void run() {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [&] { return ends || !waiting.empty(); });
            if (waiting.empty()) return;
            Work work = std::move(waiting.front());
            waiting.pop_front();
            lock.unlock();
            std::exception_ptr error;
            try {
                work();
            } catch (...) { error = std::current_exception(); }
            work = nullptr;  // frees what it owns before it counts as done
            lock.lock();
            if (!failure) failure = error;
            ++done;
            changed.notify_all();
        }
    }

    bool drain_for(double seconds) {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, std::chrono::duration<double>(seconds), [&, all = posted] { return done >= all; });
    }

    void drain() {
        drain_for(for_ever);
        const std::lock_guard lock(mutex);
        if (failure) std::rethrow_exception(failure);
    }
};

DetachedWorker::DetachedWorker(double farewell_seconds, std::size_t most_waiting)
    : state_(std::make_shared<State>(most_waiting)),
      farewell_seconds_(farewell_seconds),
      thread_([state = state_] { state->run(); }) {}

DetachedWorker::~DetachedWorker() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->ends = true;
        state_->changed.notify_all();
    }
    if (farewell_seconds_ > 0 && drain_for(farewell_seconds_)) thread_.join();
    else thread_.detach();
}

void DetachedWorker::post(Work work) {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->waiting.size() < state_->most_waiting || state_->failure; });
    if (state_->failure) std::rethrow_exception(state_->failure);
    state_->add(std::move(work));
}

bool DetachedWorker::try_post(Work work) noexcept {
    try {
        const std::lock_guard lock(state_->mutex);
        if (state_->waiting.size() >= state_->most_waiting) return false;
        state_->add(std::move(work));
        return true;
    } catch (const std::exception&) { return false; }  // out of memory
}

void DetachedWorker::drain() const { state_->drain(); }

bool DetachedWorker::drain_for(double seconds) const noexcept { return state_->drain_for(seconds); }

std::function<void()> DetachedWorker::drainer() const {
    return [state = state_] { state->drain(); };
}

}  // namespace bertpretrain
