#pragma once
// Runs many ranks in one test, each as a thread.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "core/error.h"
#include "support/thread_world.h"

namespace bertpretrain::testing {

/// Calls body(world) on one thread per rank, and returns when all have ended.
/// Throws the first error of a rank; the other ranks do not wait for the failed one.
inline void run_ranks(std::int64_t ranks, const std::function<void(World&)>& body) {
    ThreadGroup group(ranks);
    std::exception_ptr first;
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (std::int64_t rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            try {
                const auto world = group.world(rank);
                body(*world);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!first) first = std::current_exception();
                group.abandon();
            }
        });
    for (std::thread& thread : threads) thread.join();
    if (first) std::rethrow_exception(first);
}

}  // namespace bertpretrain::testing
