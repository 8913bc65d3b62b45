#pragma once
// Measures this device's peak matmul rate, with which a training step is compared.

#include <ATen/core/ScalarType.h>
#include <c10/core/Device.h>

namespace bertpretrain {

/// Returns the FLOP/s of the fastest of eight square matmuls, of side 1024 on a CPU and 8192 on a GPU. Takes about 50 ms.
/// @param type dtype of the operands; accumulation is in fp32
double measured_gemm_roof(at::Device device, at::ScalarType type);

}  // namespace bertpretrain
