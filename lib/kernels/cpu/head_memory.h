#pragma once
// Memory for the work on one head of one sequence. Each thread keeps it for its next head.

#include <cstddef>
#include <cstdint>
#include <memory>

namespace bertpretrain::cpu {

/// Returns uninitialized memory that begins at a cache line; MKL's results are reproducible only with equal alignment.
void* take_head_memory(std::size_t bytes);
/// Keeps memory from take_head_memory() of this thread for its next calls.
void keep_head_memory(void* memory);

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
