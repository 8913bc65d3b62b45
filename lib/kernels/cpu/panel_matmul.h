#pragma once
// Our own matmul of bf16 operands by vector instructions.

#include <ATen/core/Tensor.h>

#include "kernels/cpu/panel_kernel.h"

namespace bertpretrain::cpu {

/// out_MN = a_MK b_KN, or += if `add`, accumulated in fp32.
/// Threads take blocks of the result one after the other, and the bits do not depend on their number.
/// @param kernel  of an instruction set that this CPU supports
/// @param a_MK, b_KN bf16; rows or columns contiguous; K at least 1
/// @param out_MN fp32 or bf16 (rounded once to nearest even; only without `add`), contiguous
/// @throws std::logic_error for other operands
void panel_matmul(const PanelKernel& kernel, const at::Tensor& a_MK, const at::Tensor& b_KN, const at::Tensor& out_MN, bool add);

}  // namespace bertpretrain::cpu
