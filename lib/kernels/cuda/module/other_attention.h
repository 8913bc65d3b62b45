#pragma once
// The other ways to compute attention than attention(): by libtorch's flash attention for sequences of any length, and by the
// matrix instructions of warpgroups. And which functions use counter-based dropout.

#include "kernels/interface/fused_types.h"

namespace bertpretrain::cuda {

/// The operations of kernels/interface/fused_functions.inc, also for short sequences.
AttentionResult flash_attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape);
AttentionGradient flash_attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                                           const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H);

/// As attention() and attention_backward(), but by warpgroup_attention.h where our kernels for long sequences compute it.
/// @throws std::runtime_error on a device of another compute capability than 9.0
AttentionResult warpgroup_attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape);
AttentionGradient warpgroup_attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H,
                                               const at::Tensor& bias_3H, const AttentionResult& forward, const Attention& shape,
                                               const at::Tensor& d_bias_3H);

/// Whether attention() and flash_attention() draw dropout masks from the counters of kernels/interface/dropout.h; see KernelSet.
bool attention_counts_dropout(std::int64_t longest, std::int64_t head_size, at::ScalarType compute_dtype);
bool flash_counts_dropout(std::int64_t longest, std::int64_t head_size, at::ScalarType compute_dtype);

}  // namespace bertpretrain::cuda
