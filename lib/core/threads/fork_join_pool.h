#pragma once
// Threads that help their owner with one operation after the other.
//
// An operation waits only for the threads that have begun it. On a busy machine, a helper that has lost its core between two
// operations thus holds up no other thread, while an OpenMP region waits for all of its threads.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/threads/helper_cores.h"

namespace bertpretrain {

class ForkJoinPool {
public:
    /// Starts threads - 1 helpers. @throws std::system_error when the system has no more threads
    explicit ForkJoinPool(std::size_t threads);
    ForkJoinPool(const ForkJoinPool&) = delete;
    ForkJoinPool& operator=(const ForkJoinPool&) = delete;
    ~ForkJoinPool();

    std::size_t threads() const { return helpers_.size() + 1; }

    /// Calls body(0) on this thread. Until it returns, each helper i in [1, threads) that is free calls body(i) once. Returns
    /// when all calls have returned. So a call must not rely on another one, and body(0) must return only when no work is left to
    /// begin. Only the owner may call it, and `body` must not.
    /// Rethrows the first exception of a call.
    template <class Body>
    void run(std::size_t threads, const Body& body) {
        run(Task{[](const void* of, std::size_t thread) { (*static_cast<const Body*>(of))(thread); }, &body, threads});
    }

private:
    struct Task {
        void (*call)(const void* body, std::size_t thread) = nullptr;
        const void* body = nullptr;
        std::size_t threads = 0;
    };

    void stop();
    void run(const Task& task);
    void call(std::size_t thread);
    void close();
    void help(std::size_t thread);
    void wait_for_task(std::uint32_t last);
    void leave();

    // In one word: whether the task is open to helpers, how many of them are inside, and the task's number.
    alignas(64) std::atomic<std::uint32_t> gate_{0};
    alignas(64) std::atomic<std::uint32_t> sleepers_{0};  ///< helpers that sleep, or are about to, until gate_ changes
    std::atomic<std::uint32_t> owner_sleeps_{0};          ///< 1 while the owner sleeps, or is about to, until helpers have left
    std::atomic<bool> stops_{false};
    Task task_;  ///< changed only while no helper is inside
    std::mutex guard_;
    std::exception_ptr error_;  ///< the first one
    HelperCores cores_;
    std::vector<std::jthread> helpers_;
};

}  // namespace bertpretrain
