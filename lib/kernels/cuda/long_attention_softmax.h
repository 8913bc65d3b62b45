#pragma once
// The softmax of long attention's forward, while keys pass by 64 at a time: a warp keeps the largest scores so far, the sums and
// the context of its 16 queries in registers.

#include "kernels/cuda/long_attention_rows.h"

namespace bertpretrain::cuda {

constexpr int keys_at_once = 64, score_tiles = keys_at_once / 8;

/// Adds the bias to the copied queries, and computes each query's product with the key's bias.
template <int D, int block_queries, int threads, class Rows = PaddedRows<D>>
__device__ __forceinline__ void finish_queries(const AttentionInputs<Bf16>& in, const HeadOfSequence& at, int first, Bf16* q,
                                               float* key_bias_score) {
    using Pieces = RowPieces<D, threads>;
    const float* const bias = in.bias_3H + at.head * D;
    add_bias<D, block_queries, threads, Rows>(q, bias, first, at.length);
    float key_bias[8];
    load_eight_floats(bias + in.heads * D + Pieces::column(), key_bias);
#pragma unroll
    for (int row = Pieces::first_row(); row < block_queries; row += Pieces::at_once) {
        const uint4 piece = *reinterpret_cast<const uint4*>(q + Rows::at(row, Pieces::column()));
        float score = 0;
#pragma unroll
        for (int e = 0; e < 8; ++e) score += element_of(piece, e) * key_bias[e];
        score = sum_over_row<D>(score);
        if (Pieces::column() == 0) key_bias_score[row] = score;
    }
}

/// A lane's state of the softmax of its rows g and g + 8, over the keys so far.
struct RunningSoftmax {
    float reference[2];     ///< probabilities are exp(score - reference) until they are divided
    float sum[2] = {};      ///< over this lane's keys
    Sums kept_sum{};        ///< over all keys that dropout keeps: of row g in [0], of row g + 8 in [2]
    unsigned kept[2] = {};  ///< of the current 128 keys (kept_of_row)

    /// @param windowed  whether the first keys that a warp reads may be outside the window of some of its rows
    __device__ explicit RunningSoftmax(bool windowed) {
        constexpr float below_all_scores = -1e30F;  // and far above lowest_score, so that those keys get no probability
        reference[0] = reference[1] = windowed ? below_all_scores : lowest_score;
    }
};

/// Raises the references to the largest scores if one of them has grown by more than a factor of 2^8 in probability. Rarely after
/// the first keys, so that sums need no new factor each time.
template <int D>
__device__ __forceinline__ void raise_references(const Sums (&scores)[score_tiles], float to_exponent, RunningSoftmax& softmax,
                                                 Sums (&context)[D / 8]) {
    constexpr float slack = 8;
    float largest[2];
    bool grows = false;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        largest[half] = lowest_score;
#pragma unroll
        for (int t = 0; t < score_tiles; ++t)
            largest[half] = fmaxf(largest[half], fmaxf(scores[t][2 * half], scores[t][2 * half + 1]));
        largest[half] = largest_in_row(largest[half]);
        grows = grows || (largest[half] - softmax.reference[half]) * to_exponent > slack;
    }
    if (__ballot_sync(all_lanes, grows) == 0) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float reference = fmaxf(softmax.reference[half], largest[half]),
                    factor = exp2_fast((softmax.reference[half] - reference) * to_exponent);
        softmax.reference[half] = reference;
        softmax.sum[half] *= factor;
        softmax.kept_sum[2 * half] *= factor;
#pragma unroll
        for (int t = 0; t < D / 8; ++t) context[t][2 * half] *= factor, context[t][2 * half + 1] *= factor;
    }
}

/// Draws the dropout masks of a warp's rows and 128 keys, and writes them for the backward.
template <bool windowed>
__device__ __forceinline__ void draw_kept(const LongAttentionForward& pass, const HeadOfSequence& at, int first_query,
                                          int first_key, RunningSoftmax& softmax) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int query = first_query + lane() / 4 + 8 * half;
        softmax.kept[half] = kept_of_row(pass.in.dropout, at, query, first_key);
        if (query < at.length)
            kept_of_rows<windowed>(pass.kept, pass.in, at.head, first_query,
                                   first_key)[(at.first_row + query) * kept_words + lane() % 4] = softmax.kept[half];
    }
}

/// Finishes a warp's 16 queries: writes what has been summed over all keys, with the value's bias.
/// @param q  the block's queries in shared memory, which the context replaces @param key_bias_scores  each query times the key's
/// bias
template <int D, bool drops, class Rows = PaddedRows<D>>
__device__ __forceinline__ void store_context(const LongAttentionForward& pass, const HeadOfSequence& at, int first,
                                              const RunningSoftmax& softmax, Sums (&context)[D / 8], Bf16* q,
                                              const float* key_bias_scores) {
    const AttentionInputs<Bf16>& in = pass.in;
    const int block_row = warp() * warp_rows, first_query = first + block_row;
    const int H = static_cast<int>(in.heads) * D, column = at.head * D, g = lane() / 4, c = lane() % 4;
    const float scale = rsqrtf(static_cast<float>(D));
    float factors[2], kept_sums[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int row = g + 8 * half;
        const float sum = sum_in_row(softmax.sum[half]);
        kept_sums[half] = drops ? softmax.kept_sum[2 * half] : sum;
        factors[half] = in.dropout.scale / sum;
        if (c == 0 && first_query + row < at.length)
            pass.log_sum_exp_NT[at.head * in.rows + at.first_row + first_query + row] =
                (softmax.reference[half] + key_bias_scores[block_row + row]) * scale + logf(sum);
    }
#pragma unroll
    for (int t = 0; t < D / 8; ++t)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const float value_bias = in.bias_3H[2 * H + column + 8 * t + 2 * c + j];
            context[t][j] += kept_sums[0] * value_bias, context[t][2 + j] += kept_sums[1] * value_bias;
        }
    store_rows<D, Rows>(context, factors, q + block_row * Rows::pitch,
                        pass.context_TH + (at.first_row + first_query) * H + column, H, at.length - first_query);
}

}  // namespace bertpretrain::cuda
