#include "kernels/cpu/attention/head_bf16.h"

#include <algorithm>
#include <cmath>

#include "core/rounding.h"
#include "kernels/cpu/amx/small_matmul.h"
#include "kernels/cpu/attention/rows.h"

namespace bertpretrain::cpu {
namespace {

using Floats = HeadMemory<float>;
using Pairs = HeadMemory<Pair>;
using Numbers = HeadMemory<Bf16>;

constexpr float no_score = -1e30F;                   ///< of keys outside a window: its exponential is 0 beside any other
constexpr std::int64_t block_rows = 32;              ///< rows of scores computed at a time
constexpr std::int64_t vector_columns = pair_lanes;  ///< of a right operand, for the bf16 parts of a vector and zeros

/// Adds up what a matmul computed for the parts of a vector.
float sum_of_parts(const float* parts) { return parts[0] + parts[1] + parts[2]; }

/// Contiguous bf16 rows as the left operand of a matmul.
PairedRows left(const Bf16* rows, std::int64_t columns) { return {rows, columns / 2, 1}; }

/// Copies rows that are `stride` apart: at some strides, caches map them all to a few of their sets.
Numbers contiguous(const Bf16* rows, std::int64_t stride, std::int64_t S, std::int64_t D) {
    auto copy = head_memory<Bf16>(S * D);
    for (std::int64_t s = 0; s < S; ++s) std::copy_n(rows + s * stride, D, copy.get() + s * D);
    return copy;
}

/// Pairs rows 2 p and 2 p + 1 of S rows, filled up to X rows with zeros.
Pairs paired_rows(const Bf16* rows, std::int64_t stride, std::int64_t S, std::int64_t X, std::int64_t D) {
    auto pairs = head_memory<Pair>(X / 2 * D);
    for (std::int64_t p = 0; p < X / 2; ++p) {
        Pair* to = pairs.get() + p * D;
        if (2 * p < S) pair_across_rows(rows + 2 * p * stride, 2 * p + 1 < S ? rows + (2 * p + 1) * stride : nullptr, D, to);
        else std::fill_n(to, D, Pair{0});
    }
    return pairs;
}

/// Rounds S up to whole vectors of scores, or to whole tiles of their pairs.
std::int64_t with_padding(std::int64_t S) { return rounded_up(S, has_amx() ? 2 * tile_lanes : pair_lanes); }

/// C_KD = A^T B for Q x X rows A, of which the first K columns count, and Q x D rows B.
Floats transposed_matmul(const Bf16* a_QX, const Bf16* b_QD, std::int64_t Q, std::int64_t K, std::int64_t X, std::int64_t D) {
    auto c_KD = head_memory<float>(K * D);
    const std::int64_t Y = with_padding(Q);
    bf16_small_matmul(K, D, Y / 2, {paired_rows(a_QX, X, Q, Y, X).get(), 1, X}, paired_rows(b_QD, D, Q, Y, D).get(), c_KD.get());
    return c_KD;
}

constexpr std::int64_t largest_multiple = std::max<std::int64_t>(2 * tile_lanes, pair_lanes);
constexpr std::int64_t blocks_of_head = 36;  ///< more than a head takes at a time; each may be rounded up

/// The most queries of a block of the backward, which keeps all of their probabilities.
std::int64_t backward_queries(std::int64_t S, std::int64_t window) {
    return std::min<std::int64_t>(S, window > 0 ? queries_in_window : 512);
}

/// The most queries of a block of the forward, which keeps the probabilities of block_rows of them.
std::int64_t forward_queries(std::int64_t S, std::int64_t window) { return window > 0 ? std::min(S, queries_in_window) : S; }

std::int64_t block_keys(std::int64_t S, std::int64_t window) {
    return window > 0 ? std::min(S, queries_in_window + 2 * window) : S;
}

void add(const float* from, std::int64_t elements, float* to) {
    for (std::int64_t i = 0; i < elements; ++i) to[i] += from[i];
}

}  // namespace

Bf16Head::Bf16Head(const HeadPlace& place, const Bf16* qkv_T3H, const float* bias_3H)
    : place_(place),
      stride_(3 * place.hidden),
      q_(qkv_T3H + place.in_qkv()),
      k_(q_ + place.hidden),
      v_(k_ + place.hidden),
      q_bias_(bias_3H + place.column),
      k_bias_(q_bias_ + place.hidden),
      v_bias_(k_bias_ + place.hidden) {}

/// The same for every instruction set, so that a plan does not depend on the machine.
std::size_t Bf16Head::forward_bytes(std::int64_t S, std::int64_t D, std::int64_t window) {
    const std::int64_t X = rounded_up(block_keys(S, window), largest_multiple), C = X + vector_columns,
                       parts = bf16_parts * D / 2;
    const std::int64_t bf16 = forward_queries(S, window) * D + block_rows * X, pairs = D / 2 * C + X / 2 * D + 2 * parts,
                       fp32 = KeepRows::elements(S) + bf16_parts * C + block_rows * C + block_rows * D;
    return static_cast<std::size_t>(2 * bf16 + 4 * (pairs + fp32)) + blocks_of_head * head_memory_of(1);
}

std::size_t Bf16Head::backward_bytes(std::int64_t S, std::int64_t D, std::int64_t window) {
    const std::int64_t Q = backward_queries(S, window), X = rounded_up(block_keys(S, window), largest_multiple),
                       Y = rounded_up(Q, largest_multiple), C = X + vector_columns, parts = bf16_parts * D / 2;
    const std::int64_t bf16 = 2 * Q * D + 2 * Q * X, pairs = 2 * (D / 2 * C) + X / 2 * D + 3 * parts,
                       fp32 = KeepRows::elements(S) + bf16_parts * C + 2 * block_rows * C + block_rows * D + 2 * S + X;
    const std::int64_t of_gradients = 2 * S * D + X * D,  // of keys and values, fp32: of all queries, and one of a block
        of_matmul = Y / 2 * X + Y / 2 * D + Y / 2 * X;    // pairs; the last with AMX only
    return static_cast<std::size_t>(2 * bf16 + 4 * (pairs + fp32 + of_gradients + of_matmul)) +
           blocks_of_head * head_memory_of(1);
}

Pairs Bf16Head::transposed(const Bf16* rows_KD, std::int64_t K, std::int64_t X, const float* vector_D) const {
    const std::int64_t P = place_.D / 2, C = X + vector_columns;
    auto pairs_PC = head_memory<Pair>(P * C);
    const auto parts = head_memory<Pair>(bf16_parts * P);
    split_row(vector_D, place_.D, parts.get());
    transpose_pairs(rows_KD, stride_ / 2, K, P, X, pairs_PC.get(), C);
    for (std::int64_t p = 0; p < P; ++p) {
        Pair* const columns = std::fill_n(pairs_PC.get() + p * C + X, vector_columns, Pair{0}) - vector_columns;
        for (std::int64_t part = 0; part < bf16_parts; ++part) columns[part] = parts.get()[part * P + p];
    }
    return pairs_PC;
}

Floats Bf16Head::column_starts(const Pair* keys_PC, std::int64_t C) const {
    const std::int64_t P = place_.D / 2;
    const auto parts = head_memory<Pair>(bf16_parts * P);
    split_row(q_bias_, place_.D, parts.get());
    auto starts_C = head_memory<float>(bf16_parts * C);
    float* const starts = starts_C.get();
    bf16_small_matmul(bf16_parts, C, P, {parts.get(), P, 1}, keys_PC, starts);
    for (std::int64_t c = 0; c < C; ++c) starts[c] += starts[C + c] + starts[2 * C + c];
    return starts_C;
}

void Bf16Head::fetch_next_head(std::int64_t s) const {
    for (const Bf16* rows : {q_, k_, v_}) fetch(rows + s * stride_ + place_.D, place_.D);
}

void Bf16Head::fill_outside(const QueryBlock& block, std::int64_t first, std::int64_t rows, std::int64_t C, float number,
                            float* sums_QC) const {
    if (place_.window == 0) return;
    for (std::int64_t i = 0; i < rows; ++i) {
        const auto [begin, end] = place_.keys_of(first + i);
        std::fill_n(sums_QC + i * C, begin - block.first_key, number);
        std::fill_n(sums_QC + i * C + (end - block.first_key), block.end_key - end, number);
    }
}

void Bf16Head::forward(const QueryBlock& block, const KeepRows& keep, Bf16* context_TH, float* log_sum_exp_TN) const {
    const std::int64_t Q = block.queries(), K = block.keys(), X = with_padding(K), D = place_.D, H = place_.hidden,
                       C = X + vector_columns, key_row = block.first_key * stride_;
    const Numbers q_QD = contiguous(q_ + block.first * stride_, stride_, Q, D), probabilities = head_memory<Bf16>(block_rows * X);
    const Pairs keys_PC = transposed(k_ + key_row, K, X, k_bias_), values_XD = paired_rows(v_ + key_row, stride_, K, X, D);
    const Floats starts_C = column_starts(keys_PC.get(), C), sums = head_memory<float>(block_rows * C),
                 context = head_memory<float>(block_rows * D);
    const Scores shape{K, X, starts_C.get(), place_.scaling(), C};
    const float of_biases = sum_of_parts(starts_C.get() + X);
    float largest[block_rows], totals[block_rows], kept[block_rows];
    for (std::int64_t first = block.first; first < block.end; first += block_rows) {
        const std::int64_t rows = std::min(block_rows, block.end - first);
        bf16_small_matmul(rows, C, D / 2, left(q_QD.get() + (first - block.first) * D, D), keys_PC.get(), sums.get());
        fill_outside(block, first, rows, C, no_score, sums.get());
        largest_scores(shape, rows, sums.get(), largest);
        exponentials(shape, rows, sums.get(), largest, totals);
        fill_outside(block, first, rows, C, 0, sums.get());
        for (std::int64_t i = 0; i < rows; ++i) {
            fetch_next_head(first + i);
            const float* const row = sums.get() + i * C;
            kept[i] = probabilities_row(shape, row, totals[i], keep.row(first + i, block.first_key), probabilities.get() + i * X);
            log_sum_exp_TN[place_.in_rows_of_heads(first + i)] =
                largest[i] + std::log(totals[i]) + (sum_of_parts(row + X) + of_biases) * shape.scale;
        }
        bf16_small_matmul(rows, D, X / 2, left(probabilities.get(), X), values_XD.get(), context.get());
        put_rounded_rows(context.get(), rows, D, {kept, v_bias_}, 1, context_TH + place_.in_context() + first * H, H);
    }
}

void Bf16Head::forward(const KeepRows& keep, Bf16* context_TH, float* log_sum_exp_TN) const {
    const AmxSmallMatmuls matmuls;
    const std::int64_t most = forward_queries(place_.S, place_.window);
    for (std::int64_t first = 0; first < place_.S; first += most)
        forward(QueryBlock(place_, first, most), keep, context_TH, log_sum_exp_TN);
}

void Bf16Head::backward(const QueryBlock& block, const KeepRows& keep, const BackwardRows& of) const {
    const std::int64_t Q = block.queries(), K = block.keys(), X = with_padding(K), D = place_.D, H = place_.hidden,
                       C = X + vector_columns, key_row = block.first_key * stride_;
    const Numbers q_QD = contiguous(q_ + block.first * stride_, stride_, Q, D),
                  d_context_QD = contiguous(of.d_context + block.first * H, H, Q, D), probabilities_QX = head_memory<Bf16>(Q * X),
                  d_scores_QX = head_memory<Bf16>(Q * X);
    const Pairs keys_PC = transposed(k_ + key_row, K, X, k_bias_), values_PC = transposed(v_ + key_row, K, X, v_bias_),
                keys_XD = paired_rows(k_ + key_row, stride_, K, X, D);
    const Floats starts_C = column_starts(keys_PC.get(), C), sums = head_memory<float>(block_rows * C),
                 d_sums = head_memory<float>(block_rows * C), d_q = head_memory<float>(block_rows * D),
                 d_scores_sums_X = head_memory<float>(X);
    const Scores shape{K, X, starts_C.get(), place_.scaling(), C};
    const float of_biases = sum_of_parts(starts_C.get() + X);
    std::fill_n(d_scores_sums_X.get(), X, 0.0F);
    float less[block_rows], totals[block_rows];
    for (std::int64_t first = block.first; first < block.end; first += block_rows) {
        const std::int64_t rows = std::min(block_rows, block.end - first), in_block = first - block.first;
        bf16_small_matmul(rows, C, D / 2, left(q_QD.get() + in_block * D, D), keys_PC.get(), sums.get());
        bf16_small_matmul(rows, C, D / 2, left(d_context_QD.get() + in_block * D, D), values_PC.get(), d_sums.get());
        for (std::int64_t i = 0; i < rows; ++i)
            less[i] = of.log_sum_exp_TN[place_.in_rows_of_heads(first + i)] -
                      (sum_of_parts(sums.get() + i * C + X) + of_biases) * shape.scale;
        fill_outside(block, first, rows, C, no_score, sums.get());
        exponentials(shape, rows, sums.get(), less, totals);
        fill_outside(block, first, rows, C, 0, sums.get());
        for (std::int64_t i = 0; i < rows; ++i) {
            const std::int64_t s = first + i, in_queries = in_block + i;
            fetch_next_head(s);
            fetch(of.d_context + s * H + D, D);
            float* const d_row = d_sums.get() + i * C;
            of.kept_S[s] = probabilities_row_backward(
                shape, sums.get() + i * C, totals[i], keep.row(s, block.first_key), probabilities_QX.get() + in_queries * X,
                {d_row, sum_of_parts(d_row + X), d_scores_QX.get() + in_queries * X, d_scores_sums_X.get()});
        }
        // Each row of d_scores sums to zero, so the key's bias does not affect dq.
        bf16_small_matmul(rows, D, X / 2, left(d_scores_QX.get() + in_block * X, X), keys_XD.get(), d_q.get());
        put_rounded_rows(d_q.get(), rows, D, {}, shape.scale, of.d_qkv + first * stride_, stride_);
    }
    add(d_scores_sums_X.get(), K, of.d_scores_sums_S + block.first_key);
    add(transposed_matmul(d_scores_QX.get(), q_QD.get(), Q, K, X, D).get(), K * D, of.d_keys_SD + block.first_key * D);
    add(transposed_matmul(probabilities_QX.get(), d_context_QD.get(), Q, K, X, D).get(), K * D,
        of.d_values_SD + block.first_key * D);
}

void Bf16Head::backward(const KeepRows& keep, const Bf16* d_context_TH, const float* log_sum_exp_TN, Bf16* d_qkv_T3H,
                        float* bias_sum_3H) const {
    const AmxSmallMatmuls matmuls;
    const std::int64_t S = place_.S, D = place_.D, H = place_.hidden, most = backward_queries(S, place_.window);
    const Floats kept_S = head_memory<float>(S), d_scores_sums_S = head_memory<float>(S), d_keys_SD = head_memory<float>(S * D),
                 d_values_SD = head_memory<float>(S * D);
    for (float* sums : {d_keys_SD.get(), d_values_SD.get()}) std::fill_n(sums, S * D, 0.0F);
    std::fill_n(d_scores_sums_S.get(), S, 0.0F);
    const BackwardRows rows{d_context_TH + place_.in_context(),
                            log_sum_exp_TN,
                            d_qkv_T3H + place_.in_qkv(),
                            kept_S.get(),
                            d_keys_SD.get(),
                            d_values_SD.get(),
                            d_scores_sums_S.get()};
    for (std::int64_t first = 0; first < S; first += most) backward(QueryBlock(place_, first, most), keep, rows);

    float* const bias_sum = bias_sum_3H + place_.column;
    put_rounded_rows(d_keys_SD.get(), S, D, {d_scores_sums_S.get(), q_bias_}, place_.scaling(), rows.d_qkv + H, stride_);
    put_rounded_rows(d_values_SD.get(), S, D, {}, 1, rows.d_qkv + 2 * H, stride_);
    add_weighted_rows(d_scores_sums_S.get(), k_, stride_, S, D, place_.scaling(), bias_sum);
    add_weighted_rows(kept_S.get(), rows.d_context, H, S, D, 1, bias_sum + 2 * H);
}

}  // namespace bertpretrain::cpu
