#pragma once
// The three matmuls of a Linear layer. Weights are (outputs, inputs), as in torch.
//
// On a CPU without bf16 dot-product instructions, libtorch emulates bf16 GEMMs: at best at half the speed of fp32, and without
// AVX-512 down to a thirtieth of it. There, operands are widened to fp32, which is exact, and a bf16 result is rounded after the
// GEMM, as everywhere else: by our own kernel while it packs them (cpu/panel_matmul.h), or, small ones, before libtorch's fp32
// GEMM. On a CPU with these instructions, matmul_libraries.h selects the library.

#include <ATen/core/Tensor.h>

namespace bertpretrain {

/// a_MK b_KN in the operands' dtype, accumulated in fp32.
at::Tensor gemm(const at::Tensor& a_MK, const at::Tensor& b_KN);

/// y_TO = x_TI W_OI^T in x's dtype, without the bias. The weight may be packed (packed_weight.h).
at::Tensor linear_matmul(const at::Tensor& x_TI, const at::Tensor& weight_OI);
/// dx_TI = dy_TO W_OI.
at::Tensor linear_input_gradient(const at::Tensor& dy_TO, const at::Tensor& weight_OI);
/// d_weight_OI += dy_TO^T x_TI, or = if `accumulate` is false (then the memory may be uninitialized). An fp32 gradient is
/// accumulated in fp32: inside the GEMM on CUDA, with MKL, with our own kernels and with widened operands. With oneDNN the bf16
/// GEMM's result is rounded to bf16 first, as with autocast. A bf16 gradient is rounded once.
void add_linear_weight_gradient(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& d_weight_OI,
                                bool accumulate = true);

}  // namespace bertpretrain
