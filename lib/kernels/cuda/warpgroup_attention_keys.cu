// The gradients of 64 keys of one head of one sequence and of their values, by one warpgroup. Queries and the context's gradients
// pass through shared memory, 64 at a time, through three buffers as keys do in the forward. Scores are computed transposed, one
// row per key, so that the probabilities and the score gradients are operand A of the next matmuls as they leave the ones before.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/long_attention_keys.h"
#include "kernels/cuda/warpgroup.h"
#include "kernels/cuda/warpgroup_attention.h"

namespace bertpretrain::cuda {
namespace {

constexpr int D = warpgroup_columns, score_tiles = queries_at_once / 8;
static_assert(key_threads == warpgroup_threads && block_keys == warpgroup_rows);

/// A block's shared memory.
struct KeysMemory {
    QueryBuffers<SwizzledRows, 2> queries;
    alignas(swizzle_alignment) Bf16 k[block_keys * D], v[block_keys * D];
};

template <bool drops>
__global__ void __launch_bounds__(key_threads, 3) keys_block(const __grid_constant__ LongAttentionBackward pass) {
    wait_for_kernel_before();
    const AttentionInputs<Bf16>& in = pass.in;
    const PartOfHead<block_keys> part(in, blockIdx.x);
    const HeadOfSequence& at = part.at;
    auto& memory = *static_cast<KeysMemory*>(aligned_shared_memory());
    begin_copies_of_block<D, SwizzledRows>(in, part, memory.k, memory.v);
    begin_query_copies<D, drops, /*windowed=*/false>(pass, at, 0, 0, part.first, memory.queries);
    wait_for_copies();
    add_bias<D, block_keys, key_threads, SwizzledRows>(memory.v, in.bias_3H + 2 * in.heads * D + at.head * D, part.first,
                                                       at.length);

    const int first_kept = first_kept_bit(part.first);
    Sums d_keys[D / 8]{}, d_values[D / 8]{};
    for (int first = 0; first < at.length; first += queries_at_once) {
        const int buffer = first / queries_at_once % 2;
        wait_for_copies();
        show_to_matmuls();
        __syncthreads();  // the other buffer is no longer read
        if (first + queries_at_once < at.length)
            begin_query_copies<D, drops, /*windowed=*/false>(pass, at, first + queries_at_once, buffer ^ 1, part.first,
                                                             memory.queries);
        const Bf16 *const q = memory.queries.q[buffer], *const d_context = memory.queries.d_context[buffer];
        Sums scores[score_tiles], d[score_tiles];
        begin_matmuls();
        begin_products_of_rows(scores, memory.k, q);
        begin_products_of_rows(d, memory.v, d_context);
        commit_matmuls();
        wait_for_matmuls();
        keep_order(scores);
        keep_order(d);
        FragmentA probabilities[queries_at_once / 16], d_scores[queries_at_once / 16];
#pragma unroll
        for (int step = 0; step < queries_at_once / 16; ++step) {
#pragma unroll
            for (int t = 2 * step; t < 2 * step + 2; ++t)
                finish_scores<D, drops>(memory.queries, buffer, 8 * t, first_kept, in.dropout.scale, scores[t], d[t]);
            probabilities[step] = fragment_of(scores[2 * step], scores[2 * step + 1]);
            d_scores[step] = fragment_of(d[2 * step], d[2 * step + 1]);
        }
        keep_order(d_keys);
        keep_order(d_values);
        begin_matmuls();
        begin_sums_over_rows(d_values, probabilities, d_context);
        begin_sums_over_rows(d_keys, d_scores, q);
        commit_matmuls();
        wait_for_matmuls();
        keep_order(d_keys);
        keep_order(d_values);
    }
    store_keys<D>(pass, d_keys, d_values, memory.queries);
}

}  // namespace

void warpgroup_attention_backward_keys(const LongAttentionBackward& pass, cudaStream_t stream) {
    if (!warpgroup_attention_takes(pass.in)) return long_attention_backward_keys(pass, stream);
    const auto run = [&](auto kernel) {
        launch_with_shared(kernel, grid_of(pass.in.narrow_tiles.count * pass.in.heads), key_threads,
                           sizeof(KeysMemory) + swizzle_alignment, stream, pass);
    };
    pass.in.dropout.threshold > 0 ? run(keys_block<true>) : run(keys_block<false>);
}

}  // namespace bertpretrain::cuda
