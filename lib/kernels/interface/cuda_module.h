#pragma once
// What the shared library of the GPU kernels exports. The program opens it by kernels_in_use.h.

#include <cstddef>
#include <vector>

#include "kernels/interface/kernel_set.h"

namespace bertpretrain {

struct CudaModule {
    FunctionTable functions;
    const OptimizerKernels* optimizer_kernels;
    CountsDropout* counts_dropout = nullptr;   ///< see KernelSet
    std::vector<KernelSet> alternatives = {};  ///< other implementations of some operations; the self-proof times them as well
    /// Says whether kernels are started while those before them end, where the GPU can.
    void (*launch_early)(bool early) = nullptr;
    /// For tests: launches a kernel that does nothing, with this much shared memory per block.
    /// @throws std::runtime_error if the current GPU has less; no error stays in CUDA
    void (*launch_empty_kernel)(std::size_t shared_bytes) = nullptr;
};

/// Type of the function that the module exports; it returns null if the current GPU cannot run the kernels.
using GetCudaModule = const CudaModule*();
inline constexpr const char* cuda_module_file = "libbertpretrain_cuda.so";
inline constexpr const char* cuda_module_symbol = "bertpretrain_cuda_module";

}  // namespace bertpretrain
