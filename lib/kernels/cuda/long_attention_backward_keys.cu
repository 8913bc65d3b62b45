// The gradients of keys and values of long attention. A block computes 64 keys of one head of one sequence, and a warp 16 of
// them. Queries and the context's gradients pass through shared memory, 64 at a time. Scores are computed transposed, one row per
// key, so that the probabilities and the score gradients are operand A of the next matmuls as they leave the ones before. Values
// carry their bias here: they are loaded once.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/long_attention_keys.h"

namespace bertpretrain::cuda {
namespace {

constexpr int part_queries = 16, part_tiles = part_queries / 8;

/// A block's shared memory. The second buffers first receive the keys and values.
template <int D>
using KeysMemory = QueryBuffers<PaddedRows<D>, 2>;

/// A warp's 16 keys and their values as operands.
template <int D>
struct KeysOfWarp {
    FragmentA k[D / 16], v[D / 16];
    int first_kept;  ///< first_kept_bit()

    __device__ KeysOfWarp(const KeysMemory<D>& memory, int first_key) {
        const int block_row = warp() * warp_rows;
#pragma unroll
        for (int step = 0; step < D / 16; ++step) {
            k[step] = load_a(memory.q[1], pitch_of<D>, block_row, 16 * step);
            v[step] = load_a(memory.d_context[1], pitch_of<D>, block_row, 16 * step);
        }
        first_kept = first_kept_bit(first_key);
    }
};

/// Adds 64 queries to the gradients of a warp's keys, which lack the factor 1 / sqrt(D), and of its values.
/// @param read  the queries that attend to one of the warp's keys, counted from the first of the 64
/// @param of_all  likewise the queries that attend to all of them
/// @param distance  from the warp's first key to the first of the 64 queries @param reach  as AttentionInputs::reach
template <int D, bool drops, bool windowed>
__device__ __forceinline__ void add_queries(const Band& read, const Band& of_all, int distance, int reach,
                                            const KeysOfWarp<D>& mine, float dropout_scale, int buffer,
                                            const KeysMemory<D>& memory, Sums (&d_keys)[D / 8], Sums (&d_values)[D / 8]) {
    const Bf16 *const q = memory.q[buffer], *const d_context = memory.d_context[buffer];
    const int g = lane() / 4, c = lane() % 4;
#pragma unroll
    for (int part = 0; part < queries_at_once / part_queries; ++part) {
        const int row = part * part_queries;
        if (row >= read.end) break;
        if (windowed && !overlaps(read, row, part_queries)) continue;
        Sums scores[part_tiles]{}, d[part_tiles]{};
#pragma unroll
        for (int step = 0; step < D / 16; ++step) {
            const FragmentsB queries = load_b_of_rows(q, pitch_of<D>, row, 16 * step),
                             d_rows = load_b_of_rows(d_context, pitch_of<D>, row, 16 * step);
#pragma unroll
            for (int t = 0; t < part_tiles; ++t) {
                multiply_add(scores[t], mine.k[step], queries, t);
                multiply_add(d[t], mine.v[step], d_rows, t);
            }
        }
        if (windowed && !contains(of_all, row, part_queries)) {
#pragma unroll
            for (int t = 0; t < part_tiles; ++t)
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    if (is_outside(distance + row + 8 * t + 2 * c + i % 2, g + 8 * (i / 2), reach)) scores[t][i] = lowest_score;
        }
#pragma unroll
        for (int t = 0; t < part_tiles; ++t)
            finish_scores<D, drops>(memory, buffer, row + 8 * t, mine.first_kept, dropout_scale, scores[t], d[t]);
        const FragmentA probabilities = fragment_of(scores[0], scores[1]), d_scores = fragment_of(d[0], d[1]);
#pragma unroll
        for (int feature = 0; feature < D; feature += 16) {
            const FragmentsB d_rows = load_b_of_columns(d_context, pitch_of<D>, row, feature),
                             queries = load_b_of_columns(q, pitch_of<D>, row, feature);
            multiply_add(d_values[feature / 8], probabilities, d_rows, 0);
            multiply_add(d_values[feature / 8 + 1], probabilities, d_rows, 1);
            multiply_add(d_keys[feature / 8], d_scores, queries, 0);
            multiply_add(d_keys[feature / 8 + 1], d_scores, queries, 1);
        }
    }
}

template <int D, bool drops, bool windowed>
__global__ void __launch_bounds__(key_threads, blocks_on_multiprocessor(3, 2))
    keys_block(const __grid_constant__ LongAttentionBackward pass) {
    wait_for_kernel_before();
    const AttentionInputs<Bf16>& in = pass.in;
    const PartOfHead<block_keys> part(in, blockIdx.x);
    const HeadOfSequence& at = part.at;
    auto& memory = *static_cast<KeysMemory<D>*>(dynamic_shared_memory());
    begin_copies_of_block<D, PaddedRows<D>>(in, part, memory.q[1], memory.d_context[1]);
    const Band read = windowed ? band_of(part.first, block_keys, in.reach, at.length) : Band{0, at.length};
    const int begin = read.begin / queries_at_once * queries_at_once;
    begin_query_copies<D, drops, windowed>(pass, at, begin, 0, part.first, memory);
    wait_for_copies();
    add_bias<D, block_keys, key_threads>(memory.d_context[1], in.bias_3H + 2 * in.heads * D + at.head * D, part.first, at.length);
    __syncthreads();
    const KeysOfWarp<D> mine(memory, part.first);
    const int warp_key = part.first + warp() * warp_rows;
    Sums d_keys[D / 8]{}, d_values[D / 8]{};
    int buffer = 0;
    for (int first = begin; first < read.end; first += queries_at_once, buffer ^= 1) {
        wait_for_copies();
        __syncthreads();  // the other buffer is no longer read
        if (first + queries_at_once < read.end)
            begin_query_copies<D, drops, windowed>(pass, at, first + queries_at_once, buffer ^ 1, part.first, memory);
        if (warp_key >= at.length) continue;
        const Band of_warp = windowed ? band_of(warp_key, warp_rows, in.reach, at.length) : read,
                   of_all = band_of_all(warp_key, warp_rows, in.reach, at.length);
        add_queries<D, drops, windowed>({of_warp.begin - first, of_warp.end - first}, {of_all.begin - first, of_all.end - first},
                                        first - warp_key, in.reach, mine, in.dropout.scale, buffer, memory, d_keys, d_values);
    }
    store_keys<D>(pass, d_keys, d_values, memory);
}

}  // namespace

std::optional<std::size_t> long_attention_keys_bytes(std::int64_t head_size) { return bytes_of_head<KeysMemory>(head_size); }

void long_attention_backward_keys(const LongAttentionBackward& pass, cudaStream_t stream) {
    const dim3 grid = grid_of(pass.in.narrow_tiles.count * pass.in.heads);
    with_constants(pass.in, [&]<int D, bool drops, bool windowed>() {
        launch_with_shared(keys_block<D, drops, windowed>, grid, key_threads, sizeof(KeysMemory<D>), stream, pass);
    });
}

}  // namespace bertpretrain::cuda
