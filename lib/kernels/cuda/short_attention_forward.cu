// A warp keeps the scores of its 16 queries in registers between the two matmuls.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/short_attention_block.h"

namespace bertpretrain::cuda {
namespace {

constexpr int key_tiles = longest_short_sequence / 8;

template <int D>
constexpr std::size_t forward_bytes = 3 * HeadMatrix<D>::elements * sizeof(Bf16);

/// Replaces the scores of row g + 8 half by exp(score - largest), and by zero for keys that do not exist.
/// @returns their sum; `log_sum` is set to its logarithm plus the largest score
__device__ __forceinline__ float exponentiate(Sums (&scores)[key_tiles], int half, int length, float scale, float& log_sum) {
    const int c = lane() % 4;
    float largest = lowest_score;
#pragma unroll
    for (int t = 0; t < key_tiles; ++t)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            float& score = scores[t][2 * half + j];
            if (8 * t + 2 * c + j >= length) score = lowest_score;
            largest = fmaxf(largest, score);
        }
    largest = largest_in_row(largest);
    const float to_exponent = scale * log2_of_e, shift = largest * to_exponent;
    float sum = 0;
#pragma unroll
    for (int t = 0; t < key_tiles; ++t)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            float& score = scores[t][2 * half + j];
            score = exp2_fast(score * to_exponent - shift);
            sum += score;
        }
    sum = sum_in_row(sum);
    log_sum = largest * scale + logf(sum);
    return sum;
}

/// Lowers the scores of keys outside the window. Apart from exponentiate(), so that it costs nothing without a window.
__device__ __forceinline__ void lower_outside(Sums (&scores)[key_tiles], int first_query, int reach) {
    const int g = lane() / 4, c = lane() % 4;
#pragma unroll
    for (int t = 0; t < key_tiles; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (is_outside(first_query + g + 8 * (i / 2), 8 * t + 2 * c + i % 2, reach)) scores[t][i] = lowest_score;
}

template <int D>
__global__ void __launch_bounds__(attention_threads, D <= 64 ? 2 : 1)
    forward_block(const __grid_constant__ ShortAttentionForward pass, unsigned blocks_ahead) {
    wait_for_kernel_before();
    const ShortAttention& in = pass.in;
    const HeadOfSequence at(in, blockIdx.x);
    const std::int64_t H = in.heads * D, column = at.head * D;
    Bf16 *const q = static_cast<Bf16*>(dynamic_shared_memory()), *const k = q + HeadMatrix<D>::elements,
                *const v = k + HeadMatrix<D>::elements;
    {
        const Bf16* const rows = in.qkv_T3H + at.first_row * 3 * H + column;
        using Pieces = typename HeadMatrix<D>::Pieces;
        Pieces q_pieces(rows, 3 * H, at.length), k_pieces(rows + H, 3 * H, at.length), v_pieces(rows + 2 * H, 3 * H, at.length);
        q_pieces.put_biased(q, in.bias_3H + column, at.length);
        k_pieces.put_biased(k, in.bias_3H + H + column, at.length);
        v_pieces.put_biased(v, in.bias_3H + 2 * H + column, at.length);
    }
    bring_inputs_to_cache<D>(in, blockIdx.x + blocks_ahead);
    __syncthreads();
    const int first_query = warp() * warp_rows, g = lane() / 4;
    if (first_query >= at.length) return;

    Sums scores[key_tiles]{};
    multiply_by_rows<D>(q, k, first_query, 0, at.length, scores);  // unscaled
    if (in.has_window) lower_outside(scores, first_query, in.reach);
    float factors[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int query = first_query + g + 8 * half;
        float log_sum = 0;
        factors[half] = in.dropout.scale / exponentiate(scores, half, at.length, rsqrtf(static_cast<float>(D)), log_sum);
        if (lane() % 4 == 0 && query < at.length) pass.log_sum_exp_NT[at.head * in.rows + at.first_row + query] = log_sum;
        if (in.dropout.threshold == 0) continue;
        const unsigned kept = kept_of_row(in.dropout, at, query, 0);
        if (query < at.length) pass.kept.words_NGT4[kept_word(in, at, query)] = kept;
#pragma unroll
        for (int t = 0; t < key_tiles; ++t)
#pragma unroll
            for (int j = 0; j < 2; ++j)
                if ((kept >> (t + 16 * j) & 1U) == 0) scores[t][2 * half + j] = 0;
    }
    Sums context[D / 8]{};
    multiply_by_columns<D>([&](int step) { return fragment_of(scores[2 * step], scores[2 * step + 1]); }, v, at.steps(), context);
    store_rows<D>(context, factors, q + first_query * HeadMatrix<D>::pitch,
                  pass.context_TH + (at.first_row + first_query) * H + column, H, at.length - first_query);
}

}  // namespace

std::optional<std::size_t> short_attention_forward_bytes(std::int64_t head_size) {
    switch (head_size) {
        case 32:
            return forward_bytes<32>;
        case 64:
            return forward_bytes<64>;
        case 128:
            return forward_bytes<128>;
        default:
            return std::nullopt;
    }
}

void short_attention_forward(const ShortAttentionForward& pass, cudaStream_t stream) {
    const auto start = [&]<int D>() {
        launch_with_shared(forward_block<D>, grid_of(pass.in.sequences * pass.in.heads), attention_threads, forward_bytes<D>,
                           stream, pass, multiprocessors());
    };
    if (pass.in.head_size == 32) start.template operator()<32>();
    else if (pass.in.head_size == 64) start.template operator()<64>();
    else start.template operator()<128>();
}

}  // namespace bertpretrain::cuda
