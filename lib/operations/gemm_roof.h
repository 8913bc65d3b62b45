#pragma once
// What matrix products reach here at best: what a step's operations are compared with.

#include <ATen/core/ScalarType.h>
#include <c10/core/Device.h>

namespace bertpretrain {

/// The fastest of some square products, FLOP/s: 1024 on a side on a CPU, 8192 on a GPU. Takes about 50 ms.
/// @param type of the operands; sums are fp32
double measured_gemm_roof(at::Device device, at::ScalarType type);

}  // namespace bertpretrain
