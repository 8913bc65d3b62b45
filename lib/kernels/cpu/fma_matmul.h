#pragma once
// Our own matmul with AVX2's fused multiply-add, for bf16 operands on CPUs without bf16 instructions.

#include <ATen/core/Tensor.h>

namespace bertpretrain::cpu {

/// Whether matmuls use it: where instruction_set() is AVX2. With AVX-512 it has no kernel of its own.
bool has_fma_matmul();

/// out_MN = a_MK b_KN, or += if `add`, accumulated in fp32.
/// Threads take blocks of the result one after the other, and the bits do not depend on their number.
/// @param a_MK, b_KN bf16; rows or columns contiguous
/// @param out_MN fp32 or bf16 (rounded once to nearest even; only without `add`), contiguous
/// @throws std::logic_error for other operands
void fma_matmul(const at::Tensor& a_MK, const at::Tensor& b_KN, const at::Tensor& out_MN, bool add);

}  // namespace bertpretrain::cpu
