// The queries' gradients of long attention. A block computes 128 queries of one head of one sequence, like the forward: keys and
// values pass through shared memory, 64 at a time, and a warp keeps its 16 queries and their gradients in registers.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/long_attention_rows.h"

namespace bertpretrain::cuda {
namespace {

constexpr int block_queries = wide_tile_rows, keys_at_once = 64, part_keys = 16, part_tiles = part_keys / 8;

/// What the gradients of scores need of a query.
struct alignas(16) TermsOfQuery {
    QueryTerms stored;
    float value_bias, unused;  ///< sum over d_context times the value's bias
};

/// A block's shared memory.
template <int D>
struct QueriesMemory {
    Bf16 q[block_queries * pitch_of<D>];  ///< at the end: the gradients
    Bf16 d_context[block_queries * pitch_of<D>];
    Bf16 k[2][keys_at_once * pitch_of<D>], v[2][keys_at_once * pitch_of<D>];
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
template <int D>
__device__ __forceinline__ void finish_queries(const LongAttentionBackward& pass, const HeadOfSequence& at, int first,
                                               const ContextInRegisters<D>& mine, QueriesMemory<D>& memory) {
    using Pieces = RowPieces<D>;
    const AttentionInputs<Bf16>& in = pass.in;
    const int H = static_cast<int>(in.heads) * D, feature = at.head * D + Pieces::column();
    const float scale = rsqrtf(static_cast<float>(D));
    float key_bias[8], value_bias[8];
    load_eight_floats(in.bias_3H + H + feature, key_bias);
    load_eight_floats(in.bias_3H + 2 * H + feature, value_bias);
    add_bias<D, block_queries>(memory.q, in.bias_3H + at.head * D, first, at.length);
#pragma unroll
    for (int i = 0; i < ContextInRegisters<D>::pieces; ++i) {
        const int row = Pieces::first_row() + i * Pieces::at_once, piece = row * pitch_of<D> + Pieces::column();
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

/// A warp's 16 queries: operands, and for rows g and g + 8 what a lane needs of them.
template <int D, bool drops>
struct QueriesOfWarp {
    FragmentA q[D / 16], d_context[D / 16];
    TermsOfQuery terms[2];
    unsigned kept[2];  ///< of the current 64 keys, in the order of kept_of_row

    __device__ QueriesOfWarp(const QueriesMemory<D>& memory, int block_row) {
#pragma unroll
        for (int step = 0; step < D / 16; ++step) {
            q[step] = load_a(memory.q, pitch_of<D>, block_row, 16 * step);
            d_context[step] = load_a(memory.d_context, pitch_of<D>, block_row, 16 * step);
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            terms[half] = memory.terms[block_row + lane() / 4 + 8 * half];
            if (!drops) terms[half].stored.along_context -= terms[half].value_bias;  // all probabilities have its bias then
        }
    }
};

/// Adds the keys [first_key, first_key + 64) to the gradients of a warp's queries, which lack the factor 1 / sqrt(D).
/// @param reach  as AttentionInputs::reach
template <int D, bool drops, KeysRead keys_read>
__device__ __forceinline__ void add_keys(const HeadOfSequence& at, const QueriesOfWarp<D, drops>& mine, float dropout_scale,
                                         const Bf16* k, const Bf16* v, int first_query, int first_key, int reach,
                                         Sums (&d_queries)[D / 8]) {
    constexpr bool whole = keys_read == KeysRead::all, windowed = keys_read == KeysRead::in_window;
    const int end = at.length - first_key, c = lane() % 4;
    const Band near = band_of(first_query, warp_rows, reach, at.length);
    const Band of_all = band_of_all(first_query, warp_rows, reach, at.length);
    const float to_exponent = rsqrtf(static_cast<float>(D)) * log2_of_e;
#pragma unroll(D == 32 ? 2 : keys_at_once / part_keys)  // no more, or registers are spilled
    for (int part = 0; part < keys_at_once / part_keys; ++part) {
        const int row = part * part_keys;
        if (!whole && row >= end) break;
        if (windowed && !overlaps(near, first_key + row, part_keys)) continue;
        Sums scores[part_tiles]{}, d[part_tiles]{};
#pragma unroll
        for (int step = 0; step < D / 16; ++step) {
            const FragmentsB keys = load_b_of_rows(k, pitch_of<D>, row, 16 * step),
                             values = load_b_of_rows(v, pitch_of<D>, row, 16 * step);
#pragma unroll
            for (int t = 0; t < part_tiles; ++t) {
                multiply_add(scores[t], mine.q[step], keys, t);
                multiply_add(d[t], mine.d_context[step], values, t);
            }
        }
        if (windowed && !contains(of_all, first_key + row, part_keys)) {
#pragma unroll
            for (int t = 0; t < part_tiles; ++t)
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int key = row + 8 * t + 2 * c + i % 2;
                    if (key >= end || is_outside(first_query + lane() / 4 + 8 * (i / 2), first_key + key, reach))
                        scores[t][i] = lowest_score;
                }
        }
#pragma unroll
        for (int t = 0; t < part_tiles; ++t)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int half = i / 2, j = i % 2, tile = part * part_tiles + t;
                if (!whole && !windowed && 8 * tile + 2 * c + j >= end) scores[t][i] = lowest_score;
                const float p = exp2_fast(scores[t][i] * to_exponent - mine.terms[half].stored.log_sum_exp);
                float d_probability = d[t][i];
                if constexpr (drops)
                    d_probability = (d_probability + mine.terms[half].value_bias) *
                                    ((mine.kept[half] >> (tile + 16 * j) & 1U) != 0 ? dropout_scale : 0.0F);
                d[t][i] = p * (d_probability - mine.terms[half].stored.along_context);
            }
        const FragmentA d_scores = fragment_of(d[0], d[1]);
#pragma unroll
        for (int feature = 0; feature < D; feature += 16) {
            const FragmentsB keys = load_b_of_columns(k, pitch_of<D>, row, feature);
            multiply_add(d_queries[feature / 8], d_scores, keys, 0);
            multiply_add(d_queries[feature / 8 + 1], d_scores, keys, 1);
        }
    }
}

/// Writes a warp's gradients, and the block's column sums of them.
template <int D>
__device__ __forceinline__ void store_queries(const LongAttentionBackward& pass, Sums (&d_queries)[D / 8],
                                              QueriesMemory<D>& memory) {
    const PartOfHead<block_queries> part(pass.in, block_index_again());
    const HeadOfSequence& at = part.at;
    const int H = static_cast<int>(pass.in.heads) * D, column = at.head * D, block_row = warp() * warp_rows;
    const int first_query = part.first + block_row, rows_here = at.length - first_query;
    const float scale = rsqrtf(static_cast<float>(D)), scales[2] = {scale, scale};
    __syncthreads();  // d_context is no longer read
    put_column_sums<D>(d_queries, rows_here, scale, memory.column_sums() + warp() * D);
    rotate_back<D>(pass, at.first_row + first_query, rows_here, d_queries);
    if (rows_here > 0)
        store_rows<D>(d_queries, scales, memory.q + block_row * pitch_of<D>,
                      pass.d_qkv_T3H + (at.first_row + first_query) * 3 * H + column, 3 * H, rows_here);
    __syncthreads();
    store_column_sums<D>(memory.column_sums(), attention_warps, pass.query_sums_PH + part.index * H + column);
}

template <int D, bool drops, bool windowed>
__global__ void __launch_bounds__(attention_threads, blocks_on_multiprocessor(2, 1))
    queries_block(const __grid_constant__ LongAttentionBackward pass) {
    const AttentionInputs<Bf16>& in = pass.in;
    const PartOfHead<block_queries> part(in, blockIdx.x);
    const HeadOfSequence& at = part.at;
    const int H = static_cast<int>(in.heads) * D, column = at.head * D;
    const Bf16* const keys = in.qkv_T3H + at.first_row * 3 * H + H + column;
    auto& memory = *static_cast<QueriesMemory<D>*>(dynamic_shared_memory());
    const Band read = windowed ? band_of(part.first, block_queries, in.reach, at.length) : Band{0, at.length};
    const int begin = read.begin / keys_at_once * keys_at_once;
    const auto copy = [&](int first_key) {
        const bool needs_kept = first_key % keys_of_kept == 0 || (windowed && first_key == begin);
        if (drops && needs_kept && threadIdx.x < block_queries) {
            const int row = static_cast<int>(threadIdx.x);
            const bool exists = part.first + row < at.length;
            copy_async(memory.kept[first_key / keys_of_kept % 2] + row * kept_words,
                       kept_of_rows<windowed>(pass.kept, in, at.head, part.first, first_key) +
                           (at.first_row + (exists ? part.first + row : 0)) * kept_words,
                       exists);
        }
        const int buffer = first_key / keys_at_once % 2;
        copy_rows_async<D, keys_at_once>(memory.k[buffer], keys, 3 * H, first_key, at.length);
        copy_rows_async<D, keys_at_once>(memory.v[buffer], keys + H, 3 * H, first_key, at.length);
    };
    copy_rows_async<D, block_queries>(memory.q, keys - H, 3 * H, part.first, at.length);
    copy_rows_async<D, block_queries>(memory.d_context, pass.d_context_TH + at.first_row * H + column, H, part.first, at.length);
    copy(begin);
    {
        const ContextInRegisters<D> context(pass, at, part.first);
        wait_for_copies();
        finish_queries<D>(pass, at, part.first, context, memory);
    }
    __syncthreads();

    QueriesOfWarp<D, drops> mine(memory, warp() * warp_rows);
    const bool has_queries = part.first + warp() * warp_rows < at.length;
    Sums d_queries[D / 8]{};
    for (int first_key = begin; first_key < read.end; first_key += keys_at_once) {
        if (first_key > begin) {
            wait_for_copies();
            __syncthreads();  // the other buffer is no longer read
        }
        if (first_key + keys_at_once < read.end) copy(first_key + keys_at_once);
        if (!has_queries) continue;
        const int first_query = part.first + warp() * warp_rows;
        if (windowed && !overlaps(band_of(first_query, warp_rows, in.reach, at.length), first_key, keys_at_once)) continue;
        if constexpr (drops) {
            const unsigned* const kept =
                memory.kept[first_key / keys_of_kept % 2] + (warp() * warp_rows + lane() / 4) * kept_words + lane() % 4;
#pragma unroll
            for (int half = 0; half < 2; ++half) mine.kept[half] = kept[8 * half * kept_words] >> (first_key % keys_of_kept / 8);
        }
        const int buffer = first_key / keys_at_once % 2;
        const Bf16 *const k = memory.k[buffer], *const v = memory.v[buffer];
        const auto add = [&]<KeysRead keys_read>() {
            add_keys<D, drops, keys_read>(at, mine, in.dropout.scale, k, v, first_query, first_key, in.reach, d_queries);
        };
        if constexpr (windowed) add.template operator()<KeysRead::in_window>();  // alone, or registers are spilled
        else if (first_key + keys_at_once <= at.length) add.template operator()<KeysRead::all>();
        else add.template operator()<KeysRead::existing>();
    }
    store_queries<D>(pass, d_queries, memory);
}

}  // namespace

std::optional<std::size_t> long_attention_queries_bytes(std::int64_t head_size) {
    return bytes_of_head<QueriesMemory>(head_size);
}

void long_attention_backward_queries(const LongAttentionBackward& pass, cudaStream_t stream) {
    const dim3 grid = grid_of(pass.in.wide_tiles.count * pass.in.heads);
    with_constants(pass.in, [&]<int D, bool drops, bool windowed>() {
        launch_with_shared(queries_block<D, drops, windowed>, grid, attention_threads, sizeof(QueriesMemory<D>), stream, pass);
    });
}

}  // namespace bertpretrain::cuda
