#pragma once
// Copies from device memory to shared memory that run while their thread goes on. The emulator of the tests makes them only when
// the thread waits for them.

#include "kernels/cuda/lanes.h"

namespace bertpretrain::cuda {

/// Begins to copy `bytes` (8 or 16), or to write as many zero bytes if `exists` is false; `from` must be a valid address in both
/// cases. Both addresses must be aligned to `bytes`.
template <int bytes = 16>
__device__ __forceinline__ void copy_async(void* to, const void* from, bool exists) {
    static_assert(bytes == 8 || bytes == 16);
#ifdef __CUDACC__
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    const int read = exists ? bytes : 0;
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(address), "l"(from), "r"(read) : "memory");
    else asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" : : "r"(address), "l"(from), "r"(read) : "memory");
#else
    cuda_emulator::copy_async(to, exists ? from : nullptr, bytes);
#endif
}

/// Waits for all copies of this thread. Other threads see them after the next __syncthreads().
__device__ __forceinline__ void wait_for_copies() {
#ifdef __CUDACC__
    asm volatile("cp.async.wait_all;" : : : "memory");
#else
    cuda_emulator::wait_for_copies();
#endif
}

}  // namespace bertpretrain::cuda
