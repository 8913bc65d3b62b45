#include "telemetry/writer_thread.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace bertpretrain {

struct WriterThread::State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Work> waiting;
    std::size_t most_waiting = 0;
    std::uint64_t posted = 0, done = 0;
    std::exception_ptr failure;  ///< the first exception
    bool ends = false, has_ended = false;
    std::thread thread;
};

WriterThread::WriterThread(std::size_t most_waiting) : state_(std::make_shared<State>()) {
    state_->most_waiting = most_waiting;
    state_->thread = std::thread([state = state_] { run(*state); });
}

WriterThread::~WriterThread() {
    bool has_ended = false;
    {
        std::unique_lock lock(state_->mutex);
        state_->ends = true;
        state_->changed.notify_all();
        has_ended =
            state_->changed.wait_for(lock, std::chrono::duration<double>(farewell_seconds), [&] { return state_->has_ended; });
    }
    if (has_ended) state_->thread.join();
    else state_->thread.detach();
}

void WriterThread::run(State& state) {
    std::unique_lock lock(state.mutex);
    for (;;) {
        state.changed.wait(lock, [&] { return state.ends || !state.waiting.empty(); });
        if (state.waiting.empty()) break;
        Work work = std::move(state.waiting.front());
        state.waiting.pop_front();
        lock.unlock();
        std::exception_ptr failure;
        try {
            work();
        } catch (...) { failure = std::current_exception(); }
        work = nullptr;
        lock.lock();
        if (!state.failure) state.failure = failure;
        ++state.done;
        state.changed.notify_all();
    }
    state.has_ended = true;
    state.changed.notify_all();
}

void WriterThread::post(Work work) {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->waiting.size() < state_->most_waiting || state_->failure; });
    if (state_->failure) std::rethrow_exception(state_->failure);
    state_->waiting.push_back(std::move(work));
    ++state_->posted;
    state_->changed.notify_all();
}

bool WriterThread::try_post(Work work) noexcept {
    try {
        const std::lock_guard lock(state_->mutex);
        if (state_->waiting.size() >= state_->most_waiting) return false;
        state_->waiting.push_back(std::move(work));
        ++state_->posted;
        state_->changed.notify_all();
        return true;
    } catch (const std::exception&) { return false; }  // out of memory
}

void WriterThread::drain(State& state) {
    std::unique_lock lock(state.mutex);
    state.changed.wait(lock, [&state, all = state.posted] { return state.done >= all; });
    if (state.failure) std::rethrow_exception(state.failure);
}

void WriterThread::drain() const { drain(*state_); }

bool WriterThread::drain_for(double seconds) const noexcept {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_for(lock, std::chrono::duration<double>(seconds),
                                    [this, all = state_->posted] { return state_->done >= all; });
}

std::function<void()> WriterThread::drainer() const {
    return [state = state_] { drain(*state); };
}

}  // namespace bertpretrain
