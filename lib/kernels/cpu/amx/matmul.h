#pragma once
// Large bf16 GEMMs with the AMX tile instructions, accumulated in fp32.

#include <ATen/core/Tensor.h>

namespace bertpretrain::cpu {

/// out_MN = a_MK b_KN, or += if `add`. Operands are bf16 on the CPU, with contiguous rows or columns, and K is at least 1.
/// Requires has_amx(). Each sum starts at zero and has a fixed order that does not depend on the number of threads.
/// @param out_MN contiguous; fp32, or bf16, which is rounded once and does not support `add`
/// @throws std::logic_error for other operands
void amx_matmul(const at::Tensor& a_MK, const at::Tensor& b_KN, const at::Tensor& out_MN, bool add);

}  // namespace bertpretrain::cpu
