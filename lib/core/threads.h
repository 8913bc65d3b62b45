#pragma once
// Work shared between threads in the torch-free half (below it, at::parallel_for shares torch's pool).

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>

namespace bertpretrain {

/// Cores that this process may use, by its affinity and its control groups; at least 1.
std::size_t available_cores();

/// Calls body(i) for every i in [0, count), each once, on up to `threads` threads; returns when all are done.
/// The first exception that a call throws is thrown again here, after the others have stopped.
void for_each_index(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& body);

/// Calls consume(i, produce(i)) for every i in [0, count): produce() on up to `threads` threads at once, consume() in the
/// order of i, one at a time. At most `threads` results are held. The first exception is thrown again as above.
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
            lock.unlock();  // whoever's turn it is may take its time; the others go on producing
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
