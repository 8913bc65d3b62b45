#pragma once
// The few functions of CUDA's runtime that torch has no interface for. They are looked up in the runtime that torch's CUDA half
// has loaded, so that a program on CPUs neither links nor loads CUDA.

#include <cstddef>

namespace bertpretrain {

/// Locks pages of the host's memory, so that the GPU copies from and to them at full speed.
/// @returns false where there is no CUDA or it refuses: the memory can still be used, as before
bool lock_pages(void* begin, std::size_t bytes);
/// Undoes lock_pages() that returned true.
void unlock_pages(void* begin);

/// Forgets an error that CUDA has reported already: the next kernel's launch would report it again. Does nothing without CUDA.
void forget_cuda_error();

}  // namespace bertpretrain
