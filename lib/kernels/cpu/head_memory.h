#pragma once
// Memory for the work on one head of one sequence. Each thread keeps it for its next head.

#include <cstddef>
#include <cstdint>
#include <memory>

namespace bertpretrain::cpu {

/// Makes room for `bytes` of head memory on this thread, so that the thread holds no more than the largest room it was asked for.
/// Call it before the work on a head, while the thread uses none.
void reserve_head_memory(std::size_t bytes);

/// Returns uninitialized memory that begins at a cache line; MKL's results are reproducible only with equal alignment. A thread's
/// memory is a stack: what is kept last is best taken first.
void* take_head_memory(std::size_t bytes);
/// Gives memory from take_head_memory() of this thread back, for its next calls.
void keep_head_memory(void* memory);

/// Bytes of this thread's head memory.
struct HeadMemoryUse {
    std::size_t held = 0;          ///< from the system
    std::size_t largest_used = 0;  ///< the peak of what was taken at a time
};
HeadMemoryUse head_memory_use();

/// What take_head_memory() uses for a request of so many bytes.
constexpr std::size_t head_memory_of(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

struct KeepHeadMemory {
    void operator()(void* memory) const { keep_head_memory(memory); }
};

template <class T>
using HeadMemory = std::unique_ptr<T[], KeepHeadMemory>;

/// Returns uninitialized memory for the work on one head.
template <class T>
HeadMemory<T> head_memory(std::int64_t elements) {
    return HeadMemory<T>(static_cast<T*>(take_head_memory(static_cast<std::size_t>(elements) * sizeof(T))));
}

}  // namespace bertpretrain::cpu
