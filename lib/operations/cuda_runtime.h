#pragma once
// The few functions of the CUDA runtime for which torch has no interface. They are looked up in the runtime that torch has
// loaded, so that a program on CPUs neither links nor loads CUDA.

#include <cstddef>

namespace bertpretrain {

/// Page-locks host memory (cudaHostRegister), so that the GPU copies from and to it at full speed.
/// @returns false without CUDA or when CUDA refuses; the memory can still be used
bool lock_pages(void* begin, std::size_t bytes);
/// Undoes a lock_pages() that returned true.
void unlock_pages(void* begin);

/// Clears an error that CUDA has already reported (cudaGetLastError), or the next kernel launch would report it again. Does
/// nothing without CUDA.
void forget_cuda_error();

/// Returns the free bytes of the current GPU (cudaMemGetInfo), or 0 without CUDA.
std::size_t free_gpu_memory();

}  // namespace bertpretrain
