#pragma once
// Attention of sequences of at most 128 tokens on tensor cores and raw device memory. A block computes one head of one sequence
// in shared memory and registers, so scores are never written to device memory, and every sum has a fixed order. Dropout masks
// come from the counters of kernels/dropout.h: they depend on the sample, not on its batch.

#include <cuda_runtime.h>

#include "kernels/cuda/attention_inputs.h"

namespace bertpretrain::cuda {

constexpr int longest_short_sequence = 128;

using ShortAttention = AttentionInputs<Bf16>;

struct ShortAttentionForward {
    ShortAttention in;
    Bf16* context_TH;
    float* log_sum_exp_NT;
};

struct ShortAttentionBackward {
    ShortAttention in;
    const Bf16 *context_TH, *d_context_TH;
    const float* log_sum_exp_NT;
    Bf16* d_qkv_T3H;
    float* bias_sums_B3H;  ///< per sequence: sums of d_qkv over its tokens before rounding; the key's third is not written
};

/// Whether there are kernels for heads of this size: 32, 64 and 128.
bool short_attention_takes(std::int64_t head_size);

/// All pointers must be aligned to 16 bytes. Rows after the last sequence are not written.
/// @throws std::runtime_error if the device has too little shared memory
void short_attention_forward(const ShortAttentionForward& pass, cudaStream_t stream);
void short_attention_backward(const ShortAttentionBackward& pass, cudaStream_t stream);

}  // namespace bertpretrain::cuda
