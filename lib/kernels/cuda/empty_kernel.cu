#include "kernels/cuda/empty_kernel.h"

#include "kernels/cuda/lanes.h"
#include "kernels/cuda/launch.h"

namespace bertpretrain::cuda {
namespace {

__global__ void empty_kernel() { wait_for_kernel_before(); }

}  // namespace

void launch_empty_kernel(std::size_t shared_bytes, cudaStream_t stream) {
    launch_with_shared(empty_kernel, grid_of(1), 32, shared_bytes, stream);
}

}  // namespace bertpretrain::cuda
