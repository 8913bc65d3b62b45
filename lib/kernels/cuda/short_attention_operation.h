#pragma once
// Short attention on tensors: the operations of kernels/fused_functions.inc for sequences of at most 128 tokens in bf16.

#include "kernels/fused_operations.h"

namespace bertpretrain::cuda {

/// Whether it can compute this: bf16, heads of a size that there are kernels for, no sequence longer than 128 tokens.
bool is_short_attention(const at::Tensor& qkv_T3H, const Attention& shape);

AttentionResult short_attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape);
at::Tensor short_attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                                    const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H);

/// Zeroes the rows after the last sequence.
void zero_rows_of_no_sequence(const at::Tensor& rows_TX, const Attention& shape);

}  // namespace bertpretrain::cuda
