#pragma once
// The three products of a Linear layer. Weights are (outputs, inputs), as torch stores them.

#include <ATen/core/Tensor.h>

namespace bertpretrain {

/// y_TO = x_TI W_OI^T, in x's dtype, without the bias.
at::Tensor linear_product(const at::Tensor& x_TI, const at::Tensor& weight_OI);
/// dx_TI = dy_TO W_OI.
at::Tensor linear_input_gradient(const at::Tensor& dy_TO, const at::Tensor& weight_OI);
/// d_weight_OI += dy_TO^T x_TI. An fp32 sum is accumulated in fp32; on CUDA inside the product, elsewhere the product is rounded
/// to the working dtype first, as autocast does. A bf16 sum is added to inside the product and rounded once.
void add_linear_weight_gradient(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& d_weight_OI);

}  // namespace bertpretrain
