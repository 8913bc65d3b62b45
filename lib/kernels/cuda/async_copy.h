#pragma once
// Copies from device memory to shared memory that run while their thread goes on. The emulator of the tests makes them only when
// the thread waits for them.

#include "kernels/cuda/lanes.h"

namespace bertpretrain::cuda {

/// Begins to copy 16 bytes, or to write 16 zero bytes if `exists` is false; `from` must be a valid address in both cases. Both
/// addresses must be aligned to 16 bytes.
__device__ __forceinline__ void copy_async(void* to, const void* from, bool exists) {
#ifdef __CUDACC__
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    const int bytes = exists ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(address), "l"(from), "r"(bytes) : "memory");
#else
    cuda_emulator::copy_async(to, exists ? from : nullptr, 16);
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
