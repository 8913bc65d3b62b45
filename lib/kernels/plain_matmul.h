#pragma once
// The matmuls of a Linear layer (matmul.h) by plain ATen, on any device.

#include "kernels/interface/kernel_set.h"

namespace bertpretrain {

/// The device's library, in the operands' dtype. Weight gradients accumulate in their own dtype inside the GEMM.
MatmulFunctions library_matmul();
/// The specification: operands are widened to fp32, and the result is rounded once.
MatmulFunctions reference_matmul();

/// a_MK b_KN with operands widened to fp32; the result is rounded once, to a's dtype.
at::Tensor widened_gemm(const at::Tensor& a_MK, const at::Tensor& b_KN);

}  // namespace bertpretrain
