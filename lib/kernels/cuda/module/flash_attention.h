#pragma once
// Attention by libtorch's flash attention for sequences of any length, and which functions use counter-based dropout.

#include "kernels/fused_operations.h"

namespace bertpretrain::cuda {

/// The operations of kernels/fused_functions.inc, also for short sequences.
AttentionResult flash_attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape);
at::Tensor flash_attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                                    const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H);

/// Whether attention() and flash_attention() draw dropout masks from the counters of kernels/dropout.h; see KernelSet.
bool attention_counts_dropout(std::int64_t longest, std::int64_t head_size, at::ScalarType compute_dtype);
bool flash_counts_dropout(std::int64_t longest, std::int64_t head_size, at::ScalarType compute_dtype);

}  // namespace bertpretrain::cuda
