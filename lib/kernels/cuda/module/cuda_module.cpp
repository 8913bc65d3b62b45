// The function table that the program loads, and the CUDA stream that its kernels use.
#include <ATen/cuda/CUDAContext.h>

#include "kernels/cuda/empty_kernel.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/module/other_attention.h"
#include "kernels/cuda/tensors.h"
#include "kernels/interface/cuda_module.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cuda {

cudaStream_t current_stream() { return at::cuda::getCurrentCUDAStream(); }

namespace {

/// Flash attention for short sequences too: the alternative if our own kernels are wrong or slower.
KernelSet with_flash_attention(FunctionTable table) {
    table.attention = flash_attention;
    table.attention_backward = flash_attention_backward;
    return {"flash attention", table, &optimizer_kernels(), {}, flash_counts_dropout};
}

/// Attention of long sequences by the matrix instructions of warpgroups.
KernelSet with_warpgroups(FunctionTable table) {
    table.attention = warpgroup_attention;
    table.attention_backward = warpgroup_attention_backward;
    return {kernels_of_warpgroups, table, &optimizer_kernels(), {}, attention_counts_dropout, /*only_if_asked=*/true};
}

CudaModule make_module() {
    return {functions(),
            &optimizer_kernels(),
            attention_counts_dropout,
            {with_flash_attention(functions()), with_warpgroups(functions())},
            launch_early,
            [](std::size_t shared_bytes) { launch_empty_kernel(shared_bytes, current_stream()); }};
}

}  // namespace

const CudaModule& made_module() {
    static const CudaModule made = make_module();
    return made;
}

}  // namespace bertpretrain::cuda

extern "C" const bertpretrain::CudaModule* bertpretrain_cuda_module() {
    const bool can = at::cuda::is_available() && at::cuda::getCurrentDeviceProperties()->major >= 8;
    return can ? &bertpretrain::cuda::made_module() : nullptr;
}
