#pragma once
// The fused operations, declared once per implementation: reference/ is plain ATen on any device, cpu/ is vectorized, cuda/ is a
// module that only programs with a GPU open (cuda_module.h).

#include "kernels/fused_operations.h"
#include "kernels/optimizer_kernels.h"

namespace bertpretrain::reference {
#include "kernels/fused_functions.inc"
}  // namespace bertpretrain::reference

namespace bertpretrain::cpu {
#include "kernels/fused_functions.inc"
}  // namespace bertpretrain::cpu

namespace bertpretrain::cuda {
#include "kernels/fused_functions.inc"
const OptimizerKernels& optimizer_kernels();
}  // namespace bertpretrain::cuda
