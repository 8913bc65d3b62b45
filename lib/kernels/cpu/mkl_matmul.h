#pragma once
// bf16 GEMMs by Intel oneMKL, if libtorch contains it. Results are accumulated in fp32 and not rounded to bf16.

#include <ATen/core/Tensor.h>

namespace bertpretrain::cpu {

/// Whether this libtorch exports MKL's bf16 GEMM (x86-64 builds do).
bool has_mkl();

/// out_MN = a_MK b_KN, or += if `add`.
/// @param a_MK, b_KN bf16; rows or columns contiguous
/// @param out_MN fp32, contiguous
/// @throws std::logic_error for other operands, or if has_mkl() is false
void mkl_matmul(const at::Tensor& a_MK, const at::Tensor& b_KN, const at::Tensor& out_MN, bool add);

}  // namespace bertpretrain::cpu
