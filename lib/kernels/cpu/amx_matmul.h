#pragma once
// Products of large bf16 matrices by the tile instructions (AMX), accumulated in fp32.

#include <ATen/core/Tensor.h>

namespace bertpretrain::cpu {

/// out_MN = a_MK b_KN, or += : bf16 on the CPU, rows or columns contiguous, where has_amx(). Every sum has one order, whatever
/// the number of threads; it begins with zero.
/// @param out_MN contiguous; fp32, or bf16, which is rounded once and cannot be added to
void amx_matmul(const at::Tensor& a_MK, const at::Tensor& b_KN, const at::Tensor& out_MN, bool add);

}  // namespace bertpretrain::cpu
