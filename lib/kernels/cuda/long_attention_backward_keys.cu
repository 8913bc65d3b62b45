// The gradients of keys and values of long attention. A block computes 64 keys of one head of one sequence, and a warp 16 of
// them. Queries and the context's gradients pass through shared memory, 64 at a time. Scores are computed transposed, one row per
// key, so that the probabilities and the score gradients are operand A of the next matmuls as they leave the ones before. Values
// carry their bias here: they are loaded once.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/long_attention_rows.h"

namespace bertpretrain::cuda {
namespace {

constexpr int block_keys = narrow_tile_rows, block_threads = block_keys / warp_rows * warp_lanes;
constexpr int queries_at_once = 64, part_queries = 16, part_tiles = part_queries / 8;

/// A block's shared memory.
template <int D>
struct KeysMemory {
    Bf16 q[2][queries_at_once * pitch_of<D>];          ///< the second first receives the keys; the first at last the results
    Bf16 d_context[2][queries_at_once * pitch_of<D>];  ///< the second first receives the values; the first at last column sums
    alignas(16) QueryTerms terms[2][queries_at_once];
    unsigned kept[2][queries_at_once * kept_words];

    __device__ float* column_sums() { return reinterpret_cast<float*>(d_context[0]); }
};

/// The terms of two adjacent queries, which are read at once.
struct alignas(16) TwoQueries {
    QueryTerms at[2];
};

/// Begins to copy 64 queries from `first` on and all that belongs to them. What does not exist becomes zero, and then adds
/// nothing.
template <int D, bool drops, bool windowed>
__device__ __forceinline__ void begin_copies(const LongAttentionBackward& pass, const HeadOfSequence& at, int first, int buffer,
                                             int first_key, KeysMemory<D>& memory) {
    const int H = static_cast<int>(pass.in.heads) * D, column = at.head * D;
    copy_rows_async<D, queries_at_once, block_threads>(memory.q[buffer], pass.biased_queries_TH + at.first_row * H + column, H,
                                                       first, at.length);
    copy_rows_async<D, queries_at_once, block_threads>(memory.d_context[buffer], pass.d_context_TH + at.first_row * H + column, H,
                                                       first, at.length);
    const int row = static_cast<int>(threadIdx.x) % queries_at_once;
    const bool exists = first + row < at.length;
    const std::int64_t token = at.first_row + (exists ? first + row : 0);
    if (threadIdx.x < queries_at_once)
        copy_async<sizeof(QueryTerms)>(&memory.terms[buffer][row], pass.terms_NT + at.head * pass.in.rows + token, exists);
    else if (drops)
        copy_async(memory.kept[buffer] + row * kept_words,
                   kept_of_rows<windowed>(pass.kept, pass.in, at.head, first, first_key) + token * kept_words, exists);
}

/// A warp's 16 keys and their values as operands.
template <int D>
struct KeysOfWarp {
    FragmentA k[D / 16], v[D / 16];
    int first_kept;  ///< the bit of the lane's key g in the words of dropout; the next bit is key g + 8

    __device__ KeysOfWarp(const KeysMemory<D>& memory, int first_key) {
        const int block_row = warp() * warp_rows;
#pragma unroll
        for (int step = 0; step < D / 16; ++step) {
            k[step] = load_a(memory.q[1], pitch_of<D>, block_row, 16 * step);
            v[step] = load_a(memory.d_context[1], pitch_of<D>, block_row, 16 * step);
        }
        first_kept = (first_key + block_row) % keys_of_kept / 8 + 16 * (lane() / 4 % 2);
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
    const float to_exponent = rsqrtf(static_cast<float>(D)) * log2_of_e;
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
        for (int t = 0; t < part_tiles; ++t) {
            const TwoQueries terms = *reinterpret_cast<const TwoQueries*>(memory.terms[buffer] + row + 8 * t + 2 * c);
            unsigned kept[2] = {};  // by query; bit 0: key g, bit 1: key g + 8
            if constexpr (drops) {
#pragma unroll
                for (int j = 0; j < 2; ++j)
                    kept[j] = memory.kept[buffer][(row + 8 * t + 2 * c + j) * kept_words + g / 2] >> mine.first_kept;
            }
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int half = i / 2, j = i % 2;
                const float p = exp2_fast(scores[t][i] * to_exponent - terms.at[j].log_sum_exp);
                float factor = 1;
                if constexpr (drops) factor = (kept[j] >> half & 1U) != 0 ? dropout_scale : 0.0F;
                scores[t][i] = p * factor;
                d[t][i] = p * (factor * d[t][i] - terms.at[j].along_context);
            }
        }
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

/// Writes the gradients of a warp's keys and values, and the block's column sums of the values'.
template <int D>
__device__ __forceinline__ void store_keys(const LongAttentionBackward& pass, Sums (&d_keys)[D / 8],
                                           const Sums (&d_values)[D / 8], KeysMemory<D>& memory) {
    const PartOfHead<block_keys> part(pass.in, block_index_again());
    const HeadOfSequence& at = part.at;
    const int H = static_cast<int>(pass.in.heads) * D, column = at.head * D, block_row = warp() * warp_rows;
    const int first_key = part.first + block_row, rows_here = at.length - first_key;
    __syncthreads();  // queries and d_context are no longer read
    put_column_sums<D>(d_values, rows_here, 1, memory.column_sums() + warp() * D);
    if (rows_here > 0) {
        const float scale = rsqrtf(static_cast<float>(D)), unscaled[2] = {1, 1}, scaled[2] = {scale, scale};
        Bf16* const stage = memory.q[0] + block_row * pitch_of<D>;
        Bf16* const to = pass.d_qkv_T3H + (at.first_row + first_key) * 3 * H + H + column;
        rotate_back<D>(pass, at.first_row + first_key, rows_here, d_keys);
        store_rows<D>(d_keys, scaled, stage, to, 3 * H, rows_here);
        store_rows<D>(d_values, unscaled, stage, to + H, 3 * H, rows_here);
    }
    __syncthreads();
    store_column_sums<D>(memory.column_sums(), block_threads / warp_lanes, pass.value_sums_PH + part.index * H + column);
}

template <int D, bool drops, bool windowed>
__global__ void __launch_bounds__(block_threads, blocks_on_multiprocessor(3, 2))
    keys_block(const __grid_constant__ LongAttentionBackward pass) {
    const AttentionInputs<Bf16>& in = pass.in;
    const PartOfHead<block_keys> part(in, blockIdx.x);
    const HeadOfSequence& at = part.at;
    auto& memory = *static_cast<KeysMemory<D>*>(dynamic_shared_memory());
    {
        const int H = static_cast<int>(in.heads) * D;
        const Bf16* const keys = in.qkv_T3H + at.first_row * 3 * H + H + at.head * D;
        copy_rows_async<D, block_keys, block_threads>(memory.q[1], keys, 3 * H, part.first, at.length);
        copy_rows_async<D, block_keys, block_threads>(memory.d_context[1], keys + H, 3 * H, part.first, at.length);
    }
    const Band read = windowed ? band_of(part.first, block_keys, in.reach, at.length) : Band{0, at.length};
    const int begin = read.begin / queries_at_once * queries_at_once;
    begin_copies<D, drops, windowed>(pass, at, begin, 0, part.first, memory);
    wait_for_copies();
    add_bias<D, block_keys, block_threads>(memory.d_context[1], in.bias_3H + 2 * in.heads * D + at.head * D, part.first,
                                           at.length);
    __syncthreads();
    const KeysOfWarp<D> mine(memory, part.first);
    const int warp_key = part.first + warp() * warp_rows;
    Sums d_keys[D / 8]{}, d_values[D / 8]{};
    int buffer = 0;
    for (int first = begin; first < read.end; first += queries_at_once, buffer ^= 1) {
        wait_for_copies();
        __syncthreads();  // the other buffer is no longer read
        if (first + queries_at_once < read.end)
            begin_copies<D, drops, windowed>(pass, at, first + queries_at_once, buffer ^ 1, part.first, memory);
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
        launch_with_shared(keys_block<D, drops, windowed>, grid, block_threads, sizeof(KeysMemory<D>), stream, pass);
    });
}

}  // namespace bertpretrain::cuda
