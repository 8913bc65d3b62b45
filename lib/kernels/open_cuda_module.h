#pragma once
// The GPU kernels are a shared library next to the program. It is opened when the first CUDA tensor is used, so a CPU-only run
// neither links nor loads CUDA.

#include "kernels/interface/cuda_module.h"

namespace bertpretrain {

/// Returns the module's contents, or null if it cannot be opened or the GPU is too old for its kernels (logs a warning once).
const CudaModule* cuda_module();

}  // namespace bertpretrain
