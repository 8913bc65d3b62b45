#pragma once
// Attention of sequences of at most 128 tokens on tensor cores and raw device memory. A block computes one head of one sequence
// in shared memory and registers, also within a window, so scores are never written to device memory, and every sum has a fixed
// order. Dropout masks come from the counters of kernels/interface/dropout.h: they depend on the sample, not on its batch. The
// forward keeps them for the backward.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/cuda/attention_inputs.h"

namespace bertpretrain::cuda {

constexpr int longest_short_sequence = 128;

using ShortAttention = AttentionInputs<Bf16>;

struct ShortAttentionForward {
    ShortAttention in;
    Bf16* context_TH;
    float* log_sum_exp_NT;
    KeptMasks kept;  ///< of one group
};

struct ShortAttentionBackward {
    ShortAttention in;
    const Bf16 *context_TH, *d_context_TH;
    const float* log_sum_exp_NT;
    KeptMasks kept;
    QkvGradient d_qkv;     ///< in fp8 only of heads of 64 without a window
    float* bias_sums_B3H;  ///< per sequence: sums of d_qkv over its tokens before rounding; the key's third is not written
};

/// Returns the least shared memory per block, in bytes, with which the forward or the backward runs on heads of this size;
/// nothing if there are no kernels for them. There are for heads of 32, 64 and 128 features.
std::optional<std::size_t> short_attention_forward_bytes(std::int64_t head_size);
std::optional<std::size_t> short_attention_backward_bytes(std::int64_t head_size);

/// Whether both run on heads of this size, on a device that gives a block this much shared memory.
inline bool short_attention_takes(std::int64_t head_size, std::size_t shared_memory) {
    const auto forward = short_attention_forward_bytes(head_size), backward = short_attention_backward_bytes(head_size);
    return forward && backward && *forward <= shared_memory && *backward <= shared_memory;
}

/// All pointers must be aligned to 16 bytes. Rows after the last sequence are not written. The results do not depend on the
/// device's shared memory.
/// @throws std::runtime_error if the device has too little shared memory
void short_attention_forward(const ShortAttentionForward& pass, cudaStream_t stream);
void short_attention_backward(const ShortAttentionBackward& pass, cudaStream_t stream);

}  // namespace bertpretrain::cuda
