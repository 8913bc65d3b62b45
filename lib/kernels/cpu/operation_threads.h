#pragma once
// The threads that run an operation together.

#include <cstddef>
#include <cstdint>

#include "core/threads/fork_join_pool.h"

namespace bertpretrain::cpu {

/// Returns how many threads an operation of this thread may use: at::get_num_threads(), or 1 inside of another operation and of
/// at::parallel_for().
std::int64_t operation_threads();

/// Returns the calling thread's own pool, of at least `threads` threads. It is started when first needed and ends with the
/// thread.
ForkJoinPool& operation_pool(std::int64_t threads);

/// While it exists, operation_threads() is 1 on this thread.
class InsideOperation {
public:
    InsideOperation();
    ~InsideOperation();
    InsideOperation(const InsideOperation&) = delete;
    InsideOperation& operator=(const InsideOperation&) = delete;
};

/// Calls body(0) on this thread, and body(thread) for threads in [1, threads) that are free meanwhile (ForkJoinPool::run()).
/// @param threads  up to operation_threads()
template <class Body>
void run_operation(std::int64_t threads, const Body& body) {
    if (threads <= 1) return body(std::size_t{0});
    operation_pool(threads).run(static_cast<std::size_t>(threads), [&](std::size_t thread) {
        const InsideOperation inside;
        body(thread);
    });
}

}  // namespace bertpretrain::cpu
