#pragma once
// The three matmuls of a Linear layer with operands in fp8 (fused_types.h), as in matmul.h. Each sums along the rows of two
// tensors, so each operand exists in both orders. On a CPU they are emulated: bf16 holds every fp8 number, and scales are powers
// of two, so the result is that of exact products, added as bf16's are.

#include <ATen/core/Tensor.h>

#include "kernels/interface/fused_types.h"

namespace bertpretrain {

/// y_TO = x_TI W_OI^T in bf16. Reads both operands' rows. On a GPU some bits of sums may be lost, as by default in
/// TransformerEngine.
at::Tensor fp8_linear_matmul(const Fp8Operand& x_TI, const Fp8Operand& weight_OI);
/// dx_TI = dy_TO W_OI in bf16. Reads the rows of dy and the columns of the weight.
at::Tensor fp8_linear_input_gradient(const Fp8Operand& dy_TO, const Fp8Operand& weight_OI);
/// d_weight_OI += dy_TO^T x_TI, or = if `accumulate` is false. Reads both operands' columns.
void add_fp8_linear_weight_gradient(const Fp8Operand& dy_TO, const Fp8Operand& x_TI, const at::Tensor& d_weight_OI,
                                    bool accumulate = true);

/// Multiplies a small matrix. @throws ConfigError if the device has no instructions for fp8, or its library does not use them
void require_fp8_matmul(at::Device device);

}  // namespace bertpretrain
