#pragma once
// Parallel loops for the half of the code without torch. The other half uses at::parallel_for, which shares torch's threads, and
// for its CPU kernels kernels/cpu/work_stealing.h.

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>

namespace bertpretrain {

/// Returns the number of cores that this process may use, limited by its CPU affinity and its control groups at
/// the first call; at least 1.
std::size_t available_cores();

/// Lowers the calling thread's priority, so that it only uses time in which other threads are idle; threads that it starts
/// inherit it.
void run_at_low_priority();

/// Calls body(i) once for each i in [0, count) on up to `threads` threads, the caller's included, and returns when all are done.
/// Rethrows the first exception after the other threads have stopped.
void for_each_index(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& body);

/// Calls consume(i, produce(i)) for each i in [0, count): produce() on up to `threads` threads at once, consume() in the order of
/// i and one at a time. Holds at most `threads` results. Rethrows the first exception like for_each_index().
template <class Produce, class Consume>
void for_each_in_order(std::size_t count, std::size_t threads, Produce&& produce, Consume&& consume) {
    std::mutex guard;
    std::condition_variable turn_passed;
    std::size_t turn = 0;
    bool failed = false;
    for_each_index(count, threads, [&](std::size_t i) {
        try {
            auto result = produce(i);
            std::unique_lock lock(guard);
            turn_passed.wait(lock, [&] { return turn == i || failed; });
            if (failed) return;
            lock.unlock();  // consume() may take long; the other threads keep producing
            consume(i, std::move(result));
            lock.lock();
            ++turn;
        } catch (...) {
            const std::lock_guard lock(guard);
            failed = true;
            turn_passed.notify_all();
            throw;
        }
        turn_passed.notify_all();
    });
}

}  // namespace bertpretrain
