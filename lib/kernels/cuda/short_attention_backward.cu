// Scores are recomputed, 64 keys at a time. The gradients of scores stay in registers (for the queries' gradient) and go through
// shared memory once (for the keys'), as do the kept probabilities (for the values').
// Where shared memory is too small for that, the kept probabilities stay in registers until the values have been read, and take
// their place. That kernel has one block per multiprocessor and two more barriers, and computes the same bits.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/short_attention_block.h"

namespace bertpretrain::cuda {
namespace {

constexpr int chunk_keys = 64, chunk_tiles = chunk_keys / 8;
constexpr int score_pitch = longest_short_sequence + row_padding;

constexpr int score_elements = longest_short_sequence * score_pitch;

/// A block's shared memory. @tparam tight  whether the scores take the place of v
template <int D, bool tight>
struct BackwardMemory {
    Bf16 q[HeadMatrix<D>::elements], k[HeadMatrix<D>::elements], v[HeadMatrix<D>::elements], d_context[HeadMatrix<D>::elements];
    Bf16 scores[score_elements];                  ///< kept probabilities, later score gradients; one row per query
    float along_context[longest_short_sequence];  ///< sum over each row of d_context times context
    float column_sums[2][attention_warps][D];     ///< of the gradients of q and v, over each warp's 16 rows

    __device__ Bf16* stage() { return v; }  ///< where results are rounded, once v is no longer read
};
template <int D>
struct BackwardMemory<D, true> {
    Bf16 q[HeadMatrix<D>::elements], k[HeadMatrix<D>::elements], d_context[HeadMatrix<D>::elements];
    union {
        Bf16 v[HeadMatrix<D>::elements];
        Bf16 scores[score_elements];
    };
    float along_context[longest_short_sequence];
    float column_sums[2][attention_warps][D];

    __device__ Bf16* stage() { return d_context; }  ///< once d_context is no longer read
};

/// Loads all matrices; the caller synchronizes.
template <int D, bool tight>
__device__ __forceinline__ void load_block(const ShortAttentionBackward& pass, const HeadOfSequence& at,
                                           BackwardMemory<D, tight>& memory) {
    const ShortAttention& in = pass.in;
    const std::int64_t H = in.heads * D, column = at.head * D;
    using Matrix = HeadMatrix<D>;
    using Pieces = typename Matrix::Pieces;
    {
        const Bf16* const rows = in.qkv_T3H + at.first_row * 3 * H + column;
        Pieces q(rows, 3 * H, at.length), k(rows + H, 3 * H, at.length), v(rows + 2 * H, 3 * H, at.length);
        q.put_biased(memory.q, in.bias_3H + column, at.length);
        k.put_biased(memory.k, in.bias_3H + H + column, at.length);
        v.put_biased(memory.v, in.bias_3H + 2 * H + column, at.length);
    }
    const Pieces context(pass.context_TH + at.first_row * H + column, H, at.length),
        d_context(pass.d_context_TH + at.first_row * H + column, H, at.length);
    d_context.put(memory.d_context);
#pragma unroll
    for (int i = 0; i < Matrix::pieces; ++i) {
        float along = 0;
#pragma unroll
        for (int e = 0; e < 8; ++e) along += context.element(i, e) * d_context.element(i, e);
#pragma unroll
        for (int apart = Matrix::pieces_of_row / 2; apart > 0; apart /= 2) along += __shfl_xor_sync(all_lanes, along, apart);
        if (Matrix::column() == 0) memory.along_context[Matrix::row(i)] = along;
    }
}

/// A lane's values for its two rows of scores, g and g + 8.
struct RowsOfScores {
    float log_sum_exp[2], along_context[2];  ///< log_sum_exp is in base 2
    unsigned kept[2];
};

template <int D>
__device__ __forceinline__ RowsOfScores rows_of_scores(const ShortAttentionBackward& pass, const HeadOfSequence& at,
                                                       const float* along_context, int first_query) {
    RowsOfScores rows;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int query = first_query + lane() / 4 + 8 * half;
        const bool exists = query < at.length;
        rows.log_sum_exp[half] = exists ? pass.log_sum_exp_NT[at.head * pass.in.rows + at.first_row + query] * log2_of_e : 0.0F;
        rows.along_context[half] = along_context[query];
        rows.kept[half] = 0xFFFFFFFFU;
        if (exists && pass.in.dropout.threshold > 0) rows.kept[half] = pass.kept.words_NGT4[kept_word(pass.in, at, query)];
    }
    return rows;
}

/// For one chunk of keys, writes the score gradients to `d_scores` and the kept probabilities to shared memory; if memory is
/// tight, to `kept_scores`.
template <int D, int chunk, bool tight, bool has_window>
__device__ __forceinline__ void gradients_of_scores(const ShortAttention& in, const HeadOfSequence& at, const RowsOfScores& rows,
                                                    int first_query, BackwardMemory<D, tight>& memory,
                                                    FragmentA (&d_scores)[key_steps], FragmentA (&kept_scores)[key_steps]) {
    constexpr int first_key = chunk * chunk_keys;
    Sums probability[chunk_tiles]{}, d[chunk_tiles]{};
    multiply_by_rows<D>(memory.q, memory.k, first_query, first_key, at.length, probability);
    multiply_by_rows<D>(memory.d_context, memory.v, first_query, first_key, at.length, d);
    const float scale = rsqrtf(static_cast<float>(D)), to_exponent = scale * log2_of_e;
    const int g = lane() / 4, c = lane() % 4;
    if constexpr (has_window) {
#pragma unroll
        for (int t = 0; t < chunk_tiles; ++t)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (is_outside(first_query + g + 8 * (i / 2), first_key + 8 * t + 2 * c + i % 2, in.reach))
                    probability[t][i] = lowest_score;
    }
#pragma unroll
    for (int t = 0; t < chunk_tiles; ++t) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int half = i / 2, j = i % 2, key = first_key + 8 * t + 2 * c + j;
            float p = exp2_fast(probability[t][i] * to_exponent - rows.log_sum_exp[half]);
            if (key >= at.length) p = 0;
            const bool kept = (rows.kept[half] >> (first_key / 8 + t + 16 * j) & 1U) != 0;
            const float factor = kept ? in.dropout.scale : 0.0F;
            d[t][i] = p * (factor * d[t][i] - rows.along_context[half]) * scale;
            probability[t][i] = p * factor;
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const unsigned pair = bf16_pair(probability[t][2 * half], probability[t][2 * half + 1]);
            if constexpr (tight) kept_scores[first_key / 16 + t / 2].at[2 * (t % 2) + half] = pair;
            else
                *reinterpret_cast<unsigned*>(memory.scores + (first_query + g + 8 * half) * score_pitch + first_key + 8 * t +
                                             2 * c) = pair;
            d_scores[first_key / 16 + t / 2].at[2 * (t % 2) + half] = bf16_pair(d[t][2 * half], d[t][2 * half + 1]);
        }
    }
}

template <int D>
__device__ __forceinline__ void put_scores(const FragmentA (&d_scores)[key_steps], int first_query, Bf16* scores) {
    const int g = lane() / 4, c = lane() % 4;
#pragma unroll
    for (int step = 0; step < key_steps; ++step)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            *reinterpret_cast<unsigned*>(scores + (first_query + g + 8 * (i % 2)) * score_pitch + 16 * step + 8 * (i / 2) +
                                         2 * c) = d_scores[step].at[i];
}

/// Sums over this warp's 16 rows.
template <int D>
__device__ __forceinline__ void put_column_sums(const Sums (&sums)[D / 8], float (&column_sums)[D]) {
#pragma unroll
    for (int t = 0; t < D / 8; ++t)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            float sum = sums[t][j] + sums[t][2 + j];
#pragma unroll
            for (int apart = 4; apart < warp_lanes; apart *= 2) sum += __shfl_xor_sync(all_lanes, sum, apart);
            if (lane() < 4) column_sums[8 * t + 2 * lane() + j] = sum;
        }
}

/// @tparam has_window  whether tokens attend to some others only; that takes more registers than two blocks have
/// @tparam fp8  whether the gradients are written in fp8
template <int D, bool tight, bool has_window, bool fp8>
__global__ void __launch_bounds__(attention_threads, D <= 64 && !tight && !has_window ? 2 : 1)
    backward_block(const __grid_constant__ ShortAttentionBackward pass, unsigned blocks_ahead) {
    wait_for_kernel_before();
    const ShortAttention& in = pass.in;
    const HeadOfSequence at(in, blockIdx.x);
    const std::int64_t H = in.heads * D, column = at.head * D;
    auto& memory = *static_cast<BackwardMemory<D, tight>*>(dynamic_shared_memory());
    load_block<D>(pass, at, memory);
    bring_inputs_to_cache<D>(in, blockIdx.x + blocks_ahead, pass.context_TH, pass.d_context_TH);
    __syncthreads();

    const int first_query = warp() * warp_rows, steps = at.steps();
    const bool has_rows = first_query < at.length;  // of queries, and equally of keys
    FragmentA d_scores[key_steps]{}, kept_scores[key_steps]{};
    if (has_rows) {
        const RowsOfScores rows = rows_of_scores<D>(pass, at, memory.along_context, first_query);
        gradients_of_scores<D, 0, tight, has_window>(in, at, rows, first_query, memory, d_scores, kept_scores);
        gradients_of_scores<D, 1, tight, has_window>(in, at, rows, first_query, memory, d_scores, kept_scores);
    }
    __syncthreads();  // v is no longer read; all kept probabilities are written
    if constexpr (tight) {
        if (has_rows) put_scores<D>(kept_scores, first_query, memory.scores);
        __syncthreads();  // now they are
    }

    constexpr float unscaled[2] = {1, 1};
    Bf16* const stage = memory.stage() + first_query * HeadMatrix<D>::pitch;
    Bf16* const to = pass.d_qkv.rows_T3H + (at.first_row + first_query) * 3 * H + column;
    const int rows_here = at.length - first_query;
    const auto store = [&](const Sums(&sums)[D / 8], int third) {
        if constexpr (fp8)
            store_rows<E5m2, D>(sums, 1, reinterpret_cast<std::uint8_t*>(stage), pass.d_qkv.fp8, at.first_row + first_query,
                                third * H + column, rows_here);
        else store_rows<D>(sums, unscaled, stage, to + third * H, 3 * H, rows_here);
    };
    const auto transposed_scores = [&](int step) {
        return load_a_transposed(memory.scores, score_pitch, 16 * step, first_query);
    };
    if constexpr (tight) {
        Sums d_values[D / 8]{};
        if (has_rows) {
            multiply_by_columns<D>(transposed_scores, memory.d_context, steps, d_values);
            put_column_sums<D>(d_values, memory.column_sums[1][warp()]);
        }
        __syncthreads();  // kept probabilities and d_context are no longer read
        if (has_rows) store(d_values, 2);
    } else {
        if (has_rows) {
            Sums d_values[D / 8]{};
            multiply_by_columns<D>(transposed_scores, memory.d_context, steps, d_values);
            put_column_sums<D>(d_values, memory.column_sums[1][warp()]);
            store(d_values, 2);
        }
        __syncthreads();  // kept probabilities are no longer read
    }
    if (has_rows) {
        put_scores<D>(d_scores, first_query, memory.scores);
        Sums d_queries[D / 8]{};
        multiply_by_columns<D>([&](int step) { return d_scores[step]; }, memory.k, steps, d_queries);
        put_column_sums<D>(d_queries, memory.column_sums[0][warp()]);
        store(d_queries, 0);
    }
    __syncthreads();  // all score gradients and column sums are written
    if (has_rows) {
        Sums d_keys[D / 8]{};
        multiply_by_columns<D>(transposed_scores, memory.q, steps, d_keys);
        store(d_keys, 1);
    }
    for (int i = static_cast<int>(threadIdx.x); i < 2 * D; i += attention_threads) {
        float sum = 0;
        for (int w = 0; w < steps; ++w) sum += memory.column_sums[i / D][w][i % D];
        pass.bias_sums_B3H[at.sequence * 3 * H + i / D * 2 * H + column + i % D] = sum;
    }
}

}  // namespace

std::optional<std::size_t> short_attention_backward_bytes(std::int64_t head_size) {
    switch (head_size) {
        case 32:
            return sizeof(BackwardMemory<32, false>);
        case 64:
            return sizeof(BackwardMemory<64, true>);
        case 128:
            return sizeof(BackwardMemory<128, true>);
        default:
            return std::nullopt;
    }
}

void short_attention_backward(const ShortAttentionBackward& pass, cudaStream_t stream) {
    const std::size_t shared = shared_memory_of_block();
    const auto start = [&]<int D, bool tight>() {
        auto kernel = pass.in.has_window ? backward_block<D, tight, true, false> : backward_block<D, tight, false, false>;
        if constexpr (D == 64)
            if (pass.d_qkv.fp8.by_row != nullptr) kernel = backward_block<D, tight, false, true>;
        launch_with_shared(kernel, grid_of(pass.in.sequences * pass.in.heads), attention_threads,
                           sizeof(BackwardMemory<D, tight>), stream, pass, multiprocessors());
    };
    const auto start_fitting = [&]<int D>() {
        if (sizeof(BackwardMemory<D, false>) <= shared) start.template operator()<D, false>();
        else start.template operator()<D, true>();
    };
    if (pass.in.head_size == 32) start.template operator()<32, false>();
    else if (pass.in.head_size == 64) start_fitting.template operator()<64>();
    else start_fitting.template operator()<128>();
}

}  // namespace bertpretrain::cuda
