#pragma once
// Products of bf16 matrices by Intel's oneMKL, where libtorch contains it. They are accumulated in fp32, and never rounded on the
// way.

#include <ATen/core/Tensor.h>

namespace bertpretrain::cpu {

/// Whether this libtorch exports MKL's product (those for x86-64 do).
bool has_mkl();

/// out_MN = a_MK b_KN, or out_MN += a_MK b_KN.
/// @param a_MK, b_KN bf16; rows or columns contiguous
/// @param out_MN fp32, contiguous
/// @throws std::logic_error for other operands, or without MKL
void mkl_matmul(const at::Tensor& a_MK, const at::Tensor& b_KN, const at::Tensor& out_MN, bool add);

}  // namespace bertpretrain::cpu
