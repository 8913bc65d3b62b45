// The gradients of 128 queries of one head of one sequence, a warpgroup 64 of them. Keys and values pass through shared memory,
// 64 at a time, through three buffers as in the forward.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/long_attention_queries.h"
#include "kernels/cuda/warpgroup.h"
#include "kernels/cuda/warpgroup_attention.h"

namespace bertpretrain::cuda {
namespace {

constexpr int D = warpgroup_columns, score_tiles = keys_at_once / 8;
using Memory = QueriesMemory<SwizzledRows, 2>;

/// Turns scores of 64 keys, and the gradients `d` of their probabilities, into the scores' gradients as operand A.
/// @tparam whole  whether all 64 exist @param end  keys that exist @param kept  kept_of_query() of rows g and g + 8
template <bool drops, bool whole>
__device__ __forceinline__ void finish_scores(int end, const TermsOfQuery (&terms)[2], const unsigned (&kept)[2],
                                              float dropout_scale, Sums (&scores)[score_tiles], Sums (&d)[score_tiles],
                                              FragmentA (&d_scores)[keys_at_once / 16]) {
    const int c = lane() % 4;
    const float to_exponent = rsqrtf(static_cast<float>(D)) * log2_of_e;
    if constexpr (!whole) {
#pragma unroll
        for (int t = 0; t < score_tiles; ++t)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (8 * t + 2 * c + i % 2 >= end) scores[t][i] = lowest_score;
    }
#pragma unroll
    for (int t = 0; t < score_tiles; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int half = i / 2, j = i % 2;
            const float p = exp2_fast(scores[t][i] * to_exponent - terms[half].stored.log_sum_exp);
            float d_probability = d[t][i];
            if constexpr (drops)
                d_probability =
                    (d_probability + terms[half].value_bias) * ((kept[half] >> (t + 16 * j) & 1U) != 0 ? dropout_scale : 0.0F);
            d[t][i] = p * (d_probability - terms[half].stored.along_context);
        }
#pragma unroll
    for (int step = 0; step < keys_at_once / 16; ++step) d_scores[step] = fragment_of(d[2 * step], d[2 * step + 1]);
}

template <bool drops>
__global__ void __launch_bounds__(attention_threads, 2) queries_block(const __grid_constant__ LongAttentionBackward pass) {
    wait_for_kernel_before();
    const PartOfHead<block_queries> part(pass.in, blockIdx.x);
    const HeadOfSequence& at = part.at;
    auto& memory = *static_cast<Memory*>(aligned_shared_memory());
    load_queries<D, drops, /*windowed=*/false>(pass, part, 0, memory);
    show_to_matmuls();
    __syncthreads();

    const int group_row = warpgroup() * warpgroup_rows, lane_row = warp() * warp_rows + lane() / 4;
    TermsOfQuery terms[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        terms[half] = memory.terms[lane_row + 8 * half];
        if (!drops) terms[half].stored.along_context -= terms[half].value_bias;  // all probabilities have its bias then
    }
    Sums d_queries[D / 8]{};
    for (int first_key = 0; first_key < at.length; first_key += keys_at_once) {
        const int buffer = first_key / keys_at_once % 2;
        if (first_key > 0) {
            wait_for_copies();
            show_to_matmuls();
            __syncthreads();  // the other buffer is no longer read
        }
        if (first_key + keys_at_once < at.length)
            begin_key_copies<D, drops, /*windowed=*/false>(pass, part, first_key + keys_at_once, 0, memory);
        Sums scores[score_tiles], d[score_tiles];
        begin_matmuls();
        begin_products_of_rows(scores, memory.q + group_row * D, memory.k[buffer]);
        begin_products_of_rows(d, memory.d_context + group_row * D, memory.v[buffer]);
        commit_matmuls();
        unsigned kept[2] = {};
        if constexpr (drops) {
#pragma unroll
            for (int half = 0; half < 2; ++half) kept[half] = kept_of_query(memory, lane_row + 8 * half, first_key);
        }
        wait_for_matmuls();
        keep_order(scores);
        keep_order(d);
        FragmentA d_scores[keys_at_once / 16];
        const int end = at.length - first_key;
        if (end >= keys_at_once) finish_scores<drops, true>(end, terms, kept, pass.in.dropout.scale, scores, d, d_scores);
        else finish_scores<drops, false>(end, terms, kept, pass.in.dropout.scale, scores, d, d_scores);
        keep_order(d_queries);
        begin_matmuls();
        begin_sums_over_rows(d_queries, d_scores, memory.k[buffer]);
        commit_matmuls();
        wait_for_matmuls();
        keep_order(d_queries);
    }
    store_queries<D>(pass, d_queries, memory);
}

}  // namespace

void warpgroup_attention_backward_queries(const LongAttentionBackward& pass, cudaStream_t stream) {
    if (!warpgroup_attention_takes(pass.in)) return long_attention_backward_queries(pass, stream);
    const auto run = [&](auto kernel) {
        launch_with_shared(kernel, grid_of(pass.in.wide_tiles.count * pass.in.heads), attention_threads,
                           sizeof(Memory) + swizzle_alignment, stream, pass);
    };
    pass.in.dropout.threshold > 0 ? run(queries_block<true>) : run(queries_block<false>);
}

}  // namespace bertpretrain::cuda
