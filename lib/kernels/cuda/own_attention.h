#pragma once
// Attention by our own kernels, on tensors: the operations of kernels/interface/fused_functions.inc. Dropout masks equal the
// reference's.

#include "kernels/cuda/attention_choice.h"
#include "kernels/interface/fused_types.h"

namespace bertpretrain::cuda {

/// Returns what the choice of kernels depends on (attention_choice.h).
AttentionSize attention_size(const at::Tensor& qkv_T3H, const Attention& shape);

/// Runs the kernels that own_attention_kernels() chooses; they must not be the reference.
AttentionResult own_attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape);
AttentionGradient own_attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                                         const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H);

/// The same by the matrix instructions of Hopper's warpgroups where warpgroup_attention.h has kernels for it.
/// @throws std::runtime_error on a device of another compute capability than 9.0
AttentionResult own_attention_of_warpgroups(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape);
AttentionGradient own_attention_of_warpgroups_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H,
                                                       const at::Tensor& bias_3H, const AttentionResult& forward,
                                                       const Attention& shape, const at::Tensor& d_bias_3H);

/// Zeroes the rows after the last sequence.
void zero_rows_of_no_sequence(const at::Tensor& rows_TX, const Attention& shape);

}  // namespace bertpretrain::cuda
