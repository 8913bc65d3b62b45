#pragma once
// The memory in which attention on CPUs works, for plans and for the kernels themselves.

#include <cstddef>
#include <cstdint>

#include <c10/core/ScalarType.h>

namespace bertpretrain::cpu {

/// Returns the bytes that each thread of attention's backward holds after sequences of up to `longest` tokens, with a window or
/// without: linear in them beyond 1,024 tokens.
/// An upper bound for every instruction set, so that it does not depend on the machine.
std::size_t attention_memory_of_thread(std::int64_t longest, std::int64_t head_size, at::ScalarType compute_dtype);

}  // namespace bertpretrain::cpu
