#pragma once
// What both kernels of long attention's gradients of queries share: a block's shared memory, how 128 queries and 64 keys of one
// head get there, and how the gradients are written.

#include "kernels/cuda/long_attention_rows.h"

namespace bertpretrain::cuda {

constexpr int block_queries = wide_tile_rows, keys_at_once = 64;

/// What the gradients of scores need of a query.
struct alignas(16) TermsOfQuery {
    QueryTerms stored;
    float value_bias, unused;  ///< sum over d_context times the value's bias
};

/// A block's shared memory. @tparam RowsInMemory  where elements of its matrices lie @tparam buffers_  for keys that come and go
template <class RowsInMemory, int buffers_>
struct QueriesMemory {
    using Rows = RowsInMemory;
    static constexpr int buffers = buffers_;

    alignas(Rows::alignment) Bf16 q[block_queries * Rows::pitch];  ///< at the end: the gradients
    alignas(Rows::alignment) Bf16 d_context[block_queries * Rows::pitch];
    alignas(Rows::alignment) Bf16 k[buffers][keys_at_once * Rows::pitch], v[buffers][keys_at_once * Rows::pitch];
    TermsOfQuery terms[block_queries];
    unsigned kept[2][block_queries * kept_words];

    /// The column sums of all warps; they replace d_context.
    __device__ float* column_sums() { return reinterpret_cast<float*>(d_context); }
};

/// What a thread's pieces of the block's rows need from device memory besides the copies. Loaded while the copies run.
template <int D>
struct ContextInRegisters {
    static constexpr int pieces = block_queries / RowPieces<D>::at_once;
    uint4 context[pieces];
    float log_sum_exp[pieces];

    __device__ __forceinline__ ContextInRegisters(const LongAttentionBackward& pass, const HeadOfSequence& at, int first) {
        using Pieces = RowPieces<D>;
#pragma unroll
        for (int i = 0; i < pieces; ++i) {
            const int row = first + Pieces::first_row() + i * Pieces::at_once;
            context[i] = {0, 0, 0, 0}, log_sum_exp[i] = 0;
            if (row >= at.length) continue;
            const std::int64_t token = at.first_row + row;
            context[i] =
                *reinterpret_cast<const uint4*>(pass.context_TH + (token * pass.in.heads + at.head) * D + Pieces::column());
            log_sum_exp[i] = pass.log_sum_exp_NT[at.head * pass.in.rows + token];
        }
    }
};

/// Adds the bias to the copied queries, and computes their terms.
template <int D, class Memory>
__device__ __forceinline__ void finish_queries(const LongAttentionBackward& pass, const HeadOfSequence& at, int first,
                                               const ContextInRegisters<D>& mine, Memory& memory) {
    using Pieces = RowPieces<D>;
    using Rows = typename Memory::Rows;
    const AttentionInputs<Bf16>& in = pass.in;
    const int H = static_cast<int>(in.heads) * D, feature = at.head * D + Pieces::column();
    const float scale = rsqrtf(static_cast<float>(D));
    float key_bias[8], value_bias[8];
    load_eight_floats(in.bias_3H + H + feature, key_bias);
    load_eight_floats(in.bias_3H + 2 * H + feature, value_bias);
    add_bias<D, block_queries, attention_threads, Rows>(memory.q, in.bias_3H + at.head * D, first, at.length);
#pragma unroll
    for (int i = 0; i < ContextInRegisters<D>::pieces; ++i) {
        const int row = Pieces::first_row() + i * Pieces::at_once, piece = Rows::at(row, Pieces::column());
        const uint4 query = *reinterpret_cast<const uint4*>(memory.q + piece),
                    d_context = *reinterpret_cast<const uint4*>(memory.d_context + piece);
        float along = 0, by_value_bias = 0, by_key_bias = 0;
#pragma unroll
        for (int e = 0; e < 8; ++e) {
            along += element_of(mine.context[i], e) * element_of(d_context, e);
            by_value_bias += element_of(d_context, e) * value_bias[e];
            by_key_bias += element_of(query, e) * key_bias[e];
        }
        along = sum_over_row<D>(along), by_value_bias = sum_over_row<D>(by_value_bias),
        by_key_bias = sum_over_row<D>(by_key_bias);
        const TermsOfQuery terms{{(mine.log_sum_exp[i] - by_key_bias * scale) * log2_of_e, along}, by_value_bias, 0};
        if (Pieces::column() == 0) memory.terms[row] = terms;
        if (first + row >= at.length) continue;
        const std::int64_t token = at.first_row + first + row;
        *reinterpret_cast<uint4*>(pass.biased_queries_TH + token * H + feature) = query;
        if (Pieces::column() == 0) pass.terms_NT[at.head * in.rows + token] = terms.stored;
    }
}

/// Begins to copy the keys and values [first_key, first_key + 64), and dropout's masks where they begin another group of keys.
/// @param begin  the first key that the block reads
template <int D, bool drops, bool windowed, class Memory>
__device__ __forceinline__ void begin_key_copies(const LongAttentionBackward& pass, const PartOfHead<block_queries>& part,
                                                 int first_key, int begin, Memory& memory) {
    using Rows = typename Memory::Rows;
    const AttentionInputs<Bf16>& in = pass.in;
    const HeadOfSequence& at = part.at;
    const int H = static_cast<int>(in.heads) * D;
    const Bf16* const keys = in.qkv_T3H + at.first_row * 3 * H + H + at.head * D;
    const bool needs_kept = first_key % keys_of_kept == 0 || (windowed && first_key == begin);
    if (drops && needs_kept && threadIdx.x < block_queries) {
        const int row = static_cast<int>(threadIdx.x);
        const bool exists = part.first + row < at.length;
        copy_async(memory.kept[first_key / keys_of_kept % 2] + row * kept_words,
                   kept_of_rows<windowed>(pass.kept, in, at.head, part.first, first_key) +
                       (at.first_row + (exists ? part.first + row : 0)) * kept_words,
                   exists);
    }
    const int buffer = first_key / keys_at_once % Memory::buffers;
    copy_rows_async<D, keys_at_once, attention_threads, Rows>(memory.k[buffer], keys, 3 * H, first_key, at.length);
    copy_rows_async<D, keys_at_once, attention_threads, Rows>(memory.v[buffer], keys + H, 3 * H, first_key, at.length);
}

/// Loads the block's queries and all that belongs to them, and the first keys; a barrier must follow.
template <int D, bool drops, bool windowed, class Memory>
__device__ __forceinline__ void load_queries(const LongAttentionBackward& pass, const PartOfHead<block_queries>& part, int begin,
                                             Memory& memory) {
    using Rows = typename Memory::Rows;
    const HeadOfSequence& at = part.at;
    const int H = static_cast<int>(pass.in.heads) * D, column = at.head * D;
    copy_rows_async<D, block_queries, attention_threads, Rows>(memory.q, pass.in.qkv_T3H + at.first_row * 3 * H + column, 3 * H,
                                                               part.first, at.length);
    copy_rows_async<D, block_queries, attention_threads, Rows>(memory.d_context, pass.d_context_TH + at.first_row * H + column, H,
                                                               part.first, at.length);
    begin_key_copies<D, drops, windowed>(pass, part, begin, begin, memory);
    const ContextInRegisters<D> context(pass, at, part.first);
    wait_for_copies();
    finish_queries<D>(pass, at, part.first, context, memory);
}

/// Returns which of 64 keys dropout keeps for a query that a lane has, in the order of kept_of_row(). @param row  of the block
template <class Memory>
__device__ __forceinline__ unsigned kept_of_query(const Memory& memory, int row, int first_key) {
    return memory.kept[first_key / keys_of_kept % 2][row * kept_words + lane() % 4] >> (first_key % keys_of_kept / 8);
}

/// Writes a warp's gradients, and the block's column sums of them.
template <int D, class Memory>
__device__ __forceinline__ void store_queries(const LongAttentionBackward& pass, Sums (&d_queries)[D / 8], Memory& memory) {
    using Rows = typename Memory::Rows;
    const PartOfHead<block_queries> part(pass.in, block_index_again());
    const HeadOfSequence& at = part.at;
    const int H = static_cast<int>(pass.in.heads) * D, column = at.head * D, block_row = warp() * warp_rows;
    const int first_query = part.first + block_row, rows_here = at.length - first_query;
    const float scale = rsqrtf(static_cast<float>(D));
    __syncthreads();  // d_context is no longer read
    put_column_sums<D>(d_queries, rows_here, scale, memory.column_sums() + warp() * D);
    rotate_back<D>(pass, at.first_row + first_query, rows_here, d_queries);
    if (rows_here > 0)
        store_gradient<D, Rows>(d_queries, scale, memory.q + block_row * Rows::pitch, pass.d_qkv, at.first_row + first_query,
                                column, H, rows_here);
    __syncthreads();
    store_column_sums<D>(memory.column_sums(), attention_warps, pass.query_sums_PH + part.index * H + column);
}

}  // namespace bertpretrain::cuda
