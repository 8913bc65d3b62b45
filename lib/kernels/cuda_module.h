#pragma once
// The kernels for GPUs are a shared object beside the program, opened when the first tensor on a GPU comes, so that a program on
// CPUs neither links nor loads CUDA.

#include <cstdint>
#include <vector>

#include "kernels/kernel_set.h"

namespace bertpretrain {

struct CudaModule {
    FunctionTable functions;
    const OptimizerKernels* optimizer_kernels;
    CountsDropout* counts_dropout = nullptr;   ///< see KernelSet
    std::vector<KernelSet> alternatives = {};  ///< other ways to compute some of it, that the self-proof times beside these
};

/// What the module holds, or null where it cannot be opened or the GPU is older than its kernels; the log says so, once.
const CudaModule* cuda_module();

/// What the module exports under this name; it returns null where the current GPU cannot run the kernels.
using GetCudaModule = const CudaModule*();
inline constexpr const char* cuda_module_file = "libbertpretrain_cuda.so";
inline constexpr const char* cuda_module_symbol = "bertpretrain_cuda_module";

}  // namespace bertpretrain
