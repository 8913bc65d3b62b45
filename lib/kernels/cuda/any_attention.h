#pragma once
// Attention in fp32 arithmetic for sequences of up to 1,024 tokens and heads of up to 256 features, as far as the device's shared
// memory goes: with 99 KiB, heads of 64 have up to 640 tokens. Used for fp32, and where neither short_attention.h nor flash
// attention applies. A block computes 32 queries (or 32 keys) of one head of one sequence, with the keys (or queries) of their
// window. Dropout masks come from the counters
// of kernels/interface/dropout.h.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

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

/// Returns the shared memory per block, in bytes, that the forward or the backward needs.
std::size_t any_attention_forward_bytes(std::int64_t longest, std::int64_t head_size);
std::size_t any_attention_backward_bytes(std::int64_t head_size);

/// Whether both run on sequences of up to `longest` tokens, on a device that gives a block this much shared memory.
inline bool any_attention_takes(std::int64_t longest, std::int64_t head_size, std::size_t shared_memory) {
    return longest <= longest_of_any_attention && head_size <= largest_head_of_any_attention &&
           any_attention_forward_bytes(longest, head_size) <= shared_memory &&
           any_attention_backward_bytes(head_size) <= shared_memory;
}

/// Enqueue the kernels; rows after the last sequence are not written.
/// @throws std::runtime_error if the device has too little shared memory
template <class W>
void any_attention_forward(const AnyAttentionForward<W>& pass, cudaStream_t stream);
template <class W>
void any_attention_backward(const AnyAttentionBackward<W>& pass, cudaStream_t stream);

}  // namespace bertpretrain::cuda
