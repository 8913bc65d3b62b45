// A block computes 128 queries of one head of one sequence, a warpgroup 64 of them. Keys and values pass through shared memory,
// 64 at a time, and the next ones are copied meanwhile. While a warpgroup's matmuls run, its threads draw dropout's masks, and
// the other warpgroups of the multiprocessor compute their softmax.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/long_attention_softmax.h"
#include "kernels/cuda/warpgroup.h"
#include "kernels/cuda/warpgroup_attention.h"

namespace bertpretrain::cuda {
namespace {

constexpr int D = warpgroup_columns, block_queries = wide_tile_rows, block_threads = attention_threads;
static_assert(block_threads / warpgroup_threads * warpgroup_rows == block_queries && keys_at_once == warpgroup_rows);

/// A block's shared memory.
struct ForwardMemory {
    alignas(swizzle_alignment) Bf16 q[block_queries * D];  ///< at the end: the context
    alignas(swizzle_alignment) Bf16 k[2][keys_at_once * D], v[2][keys_at_once * D];
    float key_bias_score[block_queries];  ///< each query times the key's bias
};

/// Turns scores of 64 keys into probabilities as operand A, and adds them to the softmax.
/// @tparam whole  whether all 64 exist @param end  keys that exist
template <bool drops, bool whole>
__device__ __forceinline__ void finish_scores(int end, Sums (&scores)[score_tiles], RunningSoftmax& softmax,
                                              Sums (&context)[D / 8], FragmentA (&probabilities)[keys_at_once / 16]) {
    constexpr FragmentsB ones{{0x3F803F80, 0x3F803F80, 0x3F803F80, 0x3F803F80}};  // bf16
    const int c = lane() % 4;
    if constexpr (!whole) {
#pragma unroll
        for (int t = 0; t < score_tiles; ++t)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (8 * t + 2 * c + i % 2 >= end) scores[t][i] = lowest_score;
    }
    const float to_exponent = rsqrtf(static_cast<float>(D)) * log2_of_e;
    raise_references<D>(scores, to_exponent, softmax, context);
    const float shift[2] = {softmax.reference[0] * to_exponent, softmax.reference[1] * to_exponent};
#pragma unroll
    for (int t = 0; t < score_tiles; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            scores[t][i] = exp2_fast(scores[t][i] * to_exponent - shift[i / 2]);
            softmax.sum[i / 2] += scores[t][i];
        }
#pragma unroll
    for (int step = 0; step < keys_at_once / 16; ++step) {
        probabilities[step] = fragment_of(scores[2 * step], scores[2 * step + 1]);
        if constexpr (drops) {
#pragma unroll
            for (int i = 0; i < 4; ++i)
                probabilities[step].at[i] &= half_word_masks(softmax.kept[i % 2] << (15 - (2 * step + i / 2)));
            multiply_add(softmax.kept_sum, probabilities[step], ones, 0);
        }
    }
}

template <bool drops>
__global__ void __launch_bounds__(block_threads, 2) forward_block(const __grid_constant__ LongAttentionForward pass) {
    wait_for_kernel_before();
    const AttentionInputs<Bf16>& in = pass.in;
    const PartOfHead<block_queries> part(in, blockIdx.x);
    const HeadOfSequence& at = part.at;
    const int H = static_cast<int>(in.heads) * D;
    const Bf16* const keys = in.qkv_T3H + at.first_row * 3 * H + H + at.head * D;
    auto& memory = *static_cast<ForwardMemory*>(aligned_shared_memory());
    const auto copy = [&](int first_key, int buffer) {
        copy_rows_async<D, keys_at_once, block_threads, SwizzledRows>(memory.k[buffer], keys, 3 * H, first_key, at.length);
        copy_rows_async<D, keys_at_once, block_threads, SwizzledRows>(memory.v[buffer], keys + H, 3 * H, first_key, at.length);
    };
    copy_rows_async<D, block_queries, block_threads, SwizzledRows>(memory.q, keys - H, 3 * H, part.first, at.length);
    copy(0, 0);
    wait_for_copies();
    finish_queries<D, block_queries, block_threads, SwizzledRows>(in, at, part.first, memory.q, memory.key_bias_score);

    const int group_row = warpgroup() * warpgroup_rows, first_query = part.first + warp() * warp_rows;
    RunningSoftmax softmax(/*windowed=*/false);
    Sums context[D / 8]{};
    for (int first_key = 0; first_key < at.length; first_key += keys_at_once) {
        const int buffer = first_key / keys_at_once % 2;
        wait_for_copies();
        show_to_matmuls();
        __syncthreads();  // the other buffer is no longer read
        if (first_key + keys_at_once < at.length) copy(first_key + keys_at_once, buffer ^ 1);
        Sums scores[score_tiles];
        begin_matmuls();
        begin_products_of_rows(scores, memory.q + group_row * D, memory.k[buffer]);
        commit_matmuls();
        if constexpr (drops) {
            if (first_key % keys_of_kept == 0) draw_kept<false>(pass, at, first_query, first_key, softmax);
            else softmax.kept[0] >>= score_tiles, softmax.kept[1] >>= score_tiles;
        }
        wait_for_matmuls();
        keep_order(scores);
        FragmentA probabilities[keys_at_once / 16];
        const int end = at.length - first_key;
        if (end >= keys_at_once) finish_scores<drops, true>(end, scores, softmax, context, probabilities);
        else finish_scores<drops, false>(end, scores, softmax, context, probabilities);
        keep_order(context);
        begin_matmuls();
        begin_sums_over_rows(context, probabilities, memory.v[buffer]);
        commit_matmuls();
        wait_for_matmuls();
        keep_order(context);
    }
    if (first_query < at.length)
        store_context<D, drops, SwizzledRows>(pass, at, part.first, softmax, context, memory.q, memory.key_bias_score);
}

}  // namespace

void warpgroup_attention_forward(const LongAttentionForward& pass, cudaStream_t stream) {
    if (!warpgroup_attention_takes(pass.in)) return long_attention_forward(pass, stream);
    const auto run = [&](auto kernel) {
        launch_with_shared(kernel, grid_of(pass.in.wide_tiles.count * pass.in.heads), block_threads,
                           sizeof(ForwardMemory) + swizzle_alignment, stream, pass);
    };
    pass.in.dropout.threshold > 0 ? run(forward_block<true>) : run(forward_block<false>);
}

}  // namespace bertpretrain::cuda
