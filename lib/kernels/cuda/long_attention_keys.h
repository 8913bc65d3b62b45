#pragma once
// What both kernels of long attention's gradients of keys and values share: a block's shared memory, how 64 keys and 64 queries
// of one head get there, and how the gradients are written.

#include "kernels/cuda/long_attention_rows.h"

namespace bertpretrain::cuda {

constexpr int block_keys = narrow_tile_rows, key_threads = block_keys / warp_rows * warp_lanes, queries_at_once = 64;

/// Queries that come and go, with all that belongs to them. @tparam Rows  where elements of its matrices lie
template <class Rows, int buffers>
struct QueryBuffers {
    alignas(Rows::alignment) Bf16 q[buffers][queries_at_once * Rows::pitch];          ///< the first at last receives the results
    alignas(Rows::alignment) Bf16 d_context[buffers][queries_at_once * Rows::pitch];  ///< the first at last: column sums
    alignas(16) QueryTerms terms[buffers][queries_at_once];
    unsigned kept[buffers][queries_at_once * kept_words];

    __device__ float* column_sums() { return reinterpret_cast<float*>(d_context[0]); }
};

/// The terms of two adjacent queries, which are read at once.
struct alignas(16) TwoQueries {
    QueryTerms at[2];
};

/// Begins to copy 64 queries from `first` on and all that belongs to them. What does not exist becomes zero, and then adds
/// nothing.
template <int D, bool drops, bool windowed, class Rows, int buffers>
__device__ __forceinline__ void begin_query_copies(const LongAttentionBackward& pass, const HeadOfSequence& at, int first,
                                                   int buffer, int first_key, QueryBuffers<Rows, buffers>& memory) {
    const int H = static_cast<int>(pass.in.heads) * D, column = at.head * D;
    copy_rows_async<D, queries_at_once, key_threads, Rows>(memory.q[buffer], pass.biased_queries_TH + at.first_row * H + column,
                                                           H, first, at.length);
    copy_rows_async<D, queries_at_once, key_threads, Rows>(memory.d_context[buffer],
                                                           pass.d_context_TH + at.first_row * H + column, H, first, at.length);
    const int row = static_cast<int>(threadIdx.x) % queries_at_once;
    const bool exists = first + row < at.length;
    const std::int64_t token = at.first_row + (exists ? first + row : 0);
    if (threadIdx.x < queries_at_once)
        copy_async<sizeof(QueryTerms)>(&memory.terms[buffer][row], pass.terms_NT + at.head * pass.in.rows + token, exists);
    else if (drops)
        copy_async(memory.kept[buffer] + row * kept_words,
                   kept_of_rows<windowed>(pass.kept, pass.in, at.head, first, first_key) + token * kept_words, exists);
}

/// Begins to copy the block's keys and values; what does not exist becomes zero.
template <int D, class Rows>
__device__ __forceinline__ void begin_copies_of_block(const AttentionInputs<Bf16>& in, const PartOfHead<block_keys>& part,
                                                      Bf16* keys, Bf16* values) {
    const int H = static_cast<int>(in.heads) * D;
    const Bf16* const from = in.qkv_T3H + part.at.first_row * 3 * H + H + part.at.head * D;
    copy_rows_async<D, block_keys, key_threads, Rows>(keys, from, 3 * H, part.first, part.at.length);
    copy_rows_async<D, block_keys, key_threads, Rows>(values, from + H, 3 * H, part.first, part.at.length);
}

/// Returns the bit of the lane's key g in the words of dropout; the next bit is key g + 8.
__device__ __forceinline__ int first_kept_bit(int first_key) {
    return (first_key + warp() * warp_rows) % keys_of_kept / 8 + 16 * (lane() / 4 % 2);
}

/// Turns the scores of a warp's keys and of 8 queries into probabilities after dropout, and the gradients `d` of these into those
/// of the scores. @param row  of the first of the 8 queries @param first_kept  first_kept_bit()
template <int D, bool drops, class Rows, int buffers>
__device__ __forceinline__ void finish_scores(const QueryBuffers<Rows, buffers>& memory, int buffer, int row, int first_kept,
                                              float dropout_scale, Sums& scores, Sums& d) {
    const int g = lane() / 4, c = lane() % 4;
    const float to_exponent = rsqrtf(static_cast<float>(D)) * log2_of_e;
    const TwoQueries terms = *reinterpret_cast<const TwoQueries*>(memory.terms[buffer] + row + 2 * c);
    unsigned kept[2] = {};  // by query; bit 0: key g, bit 1: key g + 8
    if constexpr (drops) {
#pragma unroll
        for (int j = 0; j < 2; ++j) kept[j] = memory.kept[buffer][(row + 2 * c + j) * kept_words + g / 2] >> first_kept;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int half = i / 2, j = i % 2;
        const float p = exp2_fast(scores[i] * to_exponent - terms.at[j].log_sum_exp);
        float factor = 1;
        if constexpr (drops) factor = (kept[j] >> half & 1U) != 0 ? dropout_scale : 0.0F;
        scores[i] = p * factor;
        d[i] = p * (factor * d[i] - terms.at[j].along_context);
    }
}

/// Writes the gradients of a warp's keys and values, and the block's column sums of the values'.
template <int D, class Rows, int buffers>
__device__ __forceinline__ void store_keys(const LongAttentionBackward& pass, Sums (&d_keys)[D / 8],
                                           const Sums (&d_values)[D / 8], QueryBuffers<Rows, buffers>& memory) {
    const PartOfHead<block_keys> part(pass.in, block_index_again());
    const HeadOfSequence& at = part.at;
    const int H = static_cast<int>(pass.in.heads) * D, column = at.head * D, block_row = warp() * warp_rows;
    const int first_key = part.first + block_row, rows_here = at.length - first_key;
    __syncthreads();  // queries and d_context are no longer read
    put_column_sums<D>(d_values, rows_here, 1, memory.column_sums() + warp() * D);
    if (rows_here > 0) {
        Bf16* const stage = memory.q[0] + block_row * Rows::pitch;
        const std::int64_t row = at.first_row + first_key;
        rotate_back<D>(pass, row, rows_here, d_keys);
        store_gradient<D, Rows>(d_keys, rsqrtf(static_cast<float>(D)), stage, pass.d_qkv, row, H + column, H, rows_here);
        store_gradient<D, Rows>(d_values, 1, stage, pass.d_qkv, row, 2 * H + column, H, rows_here);
    }
    __syncthreads();
    store_column_sums<D>(memory.column_sums(), key_threads / warp_lanes, pass.value_sums_PH + part.index * H + column);
}

}  // namespace bertpretrain::cuda
