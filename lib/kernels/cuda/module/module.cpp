// The table that the program finds, and the stream that everything goes to.
#include <ATen/cuda/CUDAContext.h>

#include "kernels/cuda/tensors.h"
#include "kernels/cuda_module.h"

namespace bertpretrain::cuda {

cudaStream_t current_stream() { return at::cuda::getCurrentCUDAStream(); }

}  // namespace bertpretrain::cuda

extern "C" const bertpretrain::CudaModule* bertpretrain_cuda_module() {
    static const bertpretrain::CudaModule module{BERTPRETRAIN_FUNCTIONS_OF(bertpretrain::cuda),
                                                 &bertpretrain::cuda::optimizer_kernels()};
    const bool can = at::cuda::is_available() && at::cuda::getCurrentDeviceProperties()->major >= 8;
    return can ? &module : nullptr;
}
