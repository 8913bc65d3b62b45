#pragma once
// Attention of sequences of any usual length on tensor cores and raw device memory. Scores are never written to device memory,
// and every sum has a fixed order. Dropout masks come from the counters of kernels/interface/dropout.h: they depend on the
// sample, not on its batch. Within a window, a block reads only the keys (or queries) that its rows attend to.
//
// The biases of keys and values are not added to the keys and values, but to what follows from them. The key's bias adds the same
// number to all scores of a query, so the probabilities do not depend on it: it only enters log_sum_exp. The value's bias adds
// (sum of the kept probabilities) x bias to the context. Only the gradients of keys and values use biased values: there a block
// loads its values once.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "kernels/cuda/attention_inputs.h"

namespace bertpretrain::cuda {

constexpr int longest_long_sequence = 8192;

struct LongAttentionForward {
    AttentionInputs<Bf16> in;
    Bf16* context_TH;
    float* log_sum_exp_NT;
    KeptMasks kept;
};

/// What the gradients of scores need of a query.
struct alignas(8) QueryTerms {
    float log_sum_exp;    ///< in base 2, without the key's bias
    float along_context;  ///< sum over d_context times context
};

struct LongAttentionBackward {
    AttentionInputs<Bf16> in;
    const Bf16 *context_TH, *d_context_TH;
    const float* log_sum_exp_NT;
    KeptMasks kept;
    QkvGradient d_qkv;
    QueryTerms* terms_NT;     ///< written with the queries' gradients, read for those of keys and values
    Bf16* biased_queries_TH;  ///< likewise
    float* query_sums_PH;     ///< sums of the queries' gradients over each wide tile
    float* value_sums_PH;     ///< likewise of the values, over each narrow tile
    const float* angles_PD;   ///< of the rotation of queries and keys, whose gradients are rotated back; null: none
    const std::int64_t* positions_T;
};

/// Returns the shared memory per block, in bytes, that a kernel needs for heads of this size; nothing if there is none for them.
/// There is for heads of 32 and 64 features.
std::optional<std::size_t> long_attention_forward_bytes(std::int64_t head_size);
std::optional<std::size_t> long_attention_queries_bytes(std::int64_t head_size);
std::optional<std::size_t> long_attention_keys_bytes(std::int64_t head_size);

/// Whether all of them run on heads of this size, on a device that gives a block this much shared memory.
inline bool long_attention_takes(std::int64_t head_size, std::size_t shared_memory) {
    for (const auto& needed :
         {long_attention_forward_bytes(head_size), long_attention_queries_bytes(head_size), long_attention_keys_bytes(head_size)})
        if (!needed || *needed > shared_memory) return false;
    return true;
}

/// All pointers must be aligned to 16 bytes. Rows after the last sequence are not written.
/// @throws std::runtime_error if the launch fails
void long_attention_forward(const LongAttentionForward& pass, cudaStream_t stream);
/// Writes the queries' gradients, their sums, the terms and the biased queries; must precede the gradients of keys and values.
void long_attention_backward_queries(const LongAttentionBackward& pass, cudaStream_t stream);
/// Writes the gradients of keys and values, and the values' sums.
void long_attention_backward_keys(const LongAttentionBackward& pass, cudaStream_t stream);

}  // namespace bertpretrain::cuda
