#pragma once
// The implementations of the fused operations: reference/ is plain ATen on any device, cpu/ is vectorized, cuda/ is a module that
// only programs with a GPU open (cuda_module.h).

#include "kernels/interface/function_table.h"
#include "kernels/interface/optimizer_kernels.h"

namespace bertpretrain::reference {
#include "kernels/interface/implementations.inc"
}  // namespace bertpretrain::reference

namespace bertpretrain::cpu {
#include "kernels/interface/implementations.inc"
}  // namespace bertpretrain::cpu

namespace bertpretrain::cuda {
#include "kernels/interface/implementations.inc"
const OptimizerKernels& optimizer_kernels();
}  // namespace bertpretrain::cuda
