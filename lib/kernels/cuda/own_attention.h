#pragma once
// Attention by our own kernels, on tensors: the operations of kernels/interface/fused_functions.inc. Dropout masks equal the
// reference's.

#include "kernels/interface/fused_types.h"

namespace bertpretrain::cuda {

/// Whether short_attention.h supports these inputs: bf16, heads of 32, 64 or 128 features, sequences of at most 128 tokens.
bool is_short_attention(const at::Tensor& qkv_T3H, const Attention& shape);
/// Whether long_attention.h supports these inputs: bf16, heads of 32 or 64 features, sequences of at most 8,192 tokens.
bool is_long_attention(const at::Tensor& qkv_T3H, const Attention& shape);
/// Whether any_attention.h supports these inputs: heads of at most 256 features, sequences of at most 1,024 tokens.
bool is_any_attention(const at::Tensor& qkv_T3H, const Attention& shape);

/// Uses the first of short_attention.h, long_attention.h and any_attention.h that supports the inputs.
AttentionResult own_attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape);
at::Tensor own_attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                                  const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H);

/// Zeroes the rows after the last sequence.
void zero_rows_of_no_sequence(const at::Tensor& rows_TX, const Attention& shape);

}  // namespace bertpretrain::cuda
