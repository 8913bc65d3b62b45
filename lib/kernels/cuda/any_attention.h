#pragma once
// Attention in fp32 arithmetic for sequences of up to 1,024 tokens and heads of up to 256 features. Used for fp32, and where
// neither short_attention.h nor flash attention applies. A block computes 32 queries (or 32 keys) of one head of one sequence.
// Dropout masks come from the counters of kernels/dropout.h.

#include <cuda_runtime.h>

#include "kernels/cuda/attention_inputs.h"

namespace bertpretrain::cuda {

constexpr std::int64_t longest_of_any_attention = 1024, largest_head_of_any_attention = 256;

template <class W>
struct AnyAttentionForward {
    AttentionInputs<W> in;
    W* context_TH;
    float* log_sum_exp_NT;
};

template <class W>
struct AnyAttentionBackward {
    AttentionInputs<W> in;
    const W *context_TH, *d_context_TH;
    const float* log_sum_exp_NT;
    W* d_qkv_T3H;
};

/// Enqueue the kernels; rows after the last sequence are not written.
/// @throws std::runtime_error if the device has too little shared memory
template <class W>
void any_attention_forward(const AnyAttentionForward<W>& pass, cudaStream_t stream);
template <class W>
void any_attention_backward(const AnyAttentionBackward<W>& pass, cudaStream_t stream);

}  // namespace bertpretrain::cuda
