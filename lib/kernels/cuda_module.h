#pragma once
// The GPU kernels are a shared library next to the program. It is opened when the first CUDA tensor is used, so a CPU-only run
// neither links nor loads CUDA.

#include <cstdint>
#include <vector>

#include "kernels/kernel_set.h"

namespace bertpretrain {

struct CudaModule {
    FunctionTable functions;
    const OptimizerKernels* optimizer_kernels;
    CountsDropout* counts_dropout = nullptr;   ///< see KernelSet
    std::vector<KernelSet> alternatives = {};  ///< other implementations of some operations; the self-proof times them as well
};

/// Returns the module's contents, or null if it cannot be opened or the GPU is too old for its kernels (logs a warning once).
const CudaModule* cuda_module();

/// Type of the function that the module exports; it returns null if the current GPU cannot run the kernels.
using GetCudaModule = const CudaModule*();
inline constexpr const char* cuda_module_file = "libbertpretrain_cuda.so";
inline constexpr const char* cuda_module_symbol = "bertpretrain_cuda_module";

}  // namespace bertpretrain
