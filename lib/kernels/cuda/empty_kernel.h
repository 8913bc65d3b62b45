#pragma once
// A kernel that does nothing. Tests launch it to see how launches fail.

#include <cstddef>

#include <cuda_runtime.h>

namespace bertpretrain::cuda {

/// Launches the kernel with `shared_bytes` of dynamic shared memory per block. Does not wait for it.
/// @throws std::runtime_error if the device has less; no error stays in CUDA
void launch_empty_kernel(std::size_t shared_bytes, cudaStream_t stream);

}  // namespace bertpretrain::cuda
