#include "kernels/cpu/attention_head_bf16.h"

#include <algorithm>
#include <cmath>

#include "core/rounding.h"
#include "kernels/cpu/amx_small_matmul.h"
#include "kernels/cpu/attention_rows.h"

namespace bertpretrain::cpu {
namespace {

using Floats = HeadMemory<float>;
using Pairs = HeadMemory<Pair>;
using Numbers = HeadMemory<Bf16>;

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

/// C_SD = A^T B for S x X rows A and S x D rows B.
Floats transposed_matmul(const Bf16* a_SX, const Bf16* b_SD, std::int64_t S, std::int64_t X, std::int64_t D) {
    auto c_SD = head_memory<float>(S * D);
    bf16_small_matmul(S, D, X / 2, {paired_rows(a_SX, X, S, X, X).get(), 1, X}, paired_rows(b_SD, D, S, X, D).get(), c_SD.get());
    return c_SD;
}

/// Rounds S up to whole vectors of scores, or to whole tiles of their pairs.
std::int64_t with_padding(std::int64_t S) { return rounded_up(S, has_amx() ? 2 * tile_lanes : pair_lanes); }

constexpr std::int64_t largest_multiple = std::max<std::int64_t>(2 * tile_lanes, pair_lanes);
constexpr std::int64_t blocks_of_head = 32;  ///< more than a head takes at a time; each may be rounded up

}  // namespace

Bf16Head::Bf16Head(const HeadPlace& place, const Bf16* qkv_T3H, const float* bias_3H)
    : place_(place),
      X_(with_padding(place.S)),
      stride_(3 * place.hidden),
      q_(qkv_T3H + place.in_qkv()),
      k_(q_ + place.hidden),
      v_(k_ + place.hidden),
      q_bias_(bias_3H + place.column),
      k_bias_(q_bias_ + place.hidden),
      v_bias_(k_bias_ + place.hidden) {}

/// The same for every instruction set, so that a plan does not depend on the machine.
std::size_t Bf16Head::forward_bytes(std::int64_t S, std::int64_t D) {
    const std::int64_t X = rounded_up(S, largest_multiple), C = X + vector_columns, parts = bf16_parts * D / 2;
    const std::int64_t bf16 = S * D + block_rows * X, pairs = D / 2 * C + X / 2 * D + 2 * parts,
                       fp32 = KeepRows::elements(S) + bf16_parts * C + block_rows * C + block_rows * D;
    return static_cast<std::size_t>(2 * bf16 + 4 * (pairs + fp32)) + blocks_of_head * head_memory_of(1);
}

std::size_t Bf16Head::backward_bytes(std::int64_t S, std::int64_t D) {
    const std::int64_t X = rounded_up(S, largest_multiple), C = X + vector_columns, parts = bf16_parts * D / 2;
    const std::int64_t bf16 = 2 * S * D + 2 * S * X, pairs = 2 * (D / 2 * C) + X / 2 * D + 3 * parts,
                       fp32 = KeepRows::elements(S) + bf16_parts * C + 2 * block_rows * C + block_rows * D + S + X;
    const std::int64_t of_gradients = 2 * S * D,        // of keys and values, fp32
        of_matmul = X / 2 * X + X / 2 * D + X / 2 * X;  // pairs; the last with AMX only
    return static_cast<std::size_t>(2 * bf16 + 4 * (pairs + fp32 + of_gradients + of_matmul)) +
           blocks_of_head * head_memory_of(1);
}

Pairs Bf16Head::transposed(const Bf16* rows_SD, const float* vector_D) const {
    const std::int64_t P = place_.D / 2, C = X_ + vector_columns;
    auto pairs_PC = head_memory<Pair>(P * C);
    const auto parts = head_memory<Pair>(bf16_parts * P);
    split_row(vector_D, place_.D, parts.get());
    transpose_pairs(rows_SD, stride_ / 2, place_.S, P, X_, pairs_PC.get(), C);
    for (std::int64_t p = 0; p < P; ++p) {
        Pair* const columns = std::fill_n(pairs_PC.get() + p * C + X_, vector_columns, Pair{0}) - vector_columns;
        for (std::int64_t part = 0; part < bf16_parts; ++part) columns[part] = parts.get()[part * P + p];
    }
    return pairs_PC;
}

Floats Bf16Head::column_starts(const Pair* keys_PC) const {
    const std::int64_t P = place_.D / 2, C = X_ + vector_columns;
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

Scores Bf16Head::scores(const float* starts_C) const { return {place_.S, X_, starts_C, place_.scaling(), X_ + vector_columns}; }

void Bf16Head::forward(const KeepRows& keep, Bf16* context_TH, float* log_sum_exp_TN) const {
    const AmxSmallMatmuls matmuls;
    const std::int64_t S = place_.S, D = place_.D, H = place_.hidden, C = X_ + vector_columns;
    const Numbers q_SD = contiguous(q_, stride_, S, D), probabilities = head_memory<Bf16>(block_rows * X_);
    const Pairs keys_PC = transposed(k_, k_bias_), values_XD = paired_rows(v_, stride_, S, X_, D);
    const Floats starts_C = column_starts(keys_PC.get()), sums = head_memory<float>(block_rows * C),
                 context = head_memory<float>(block_rows * D);
    const Scores shape = scores(starts_C.get());
    const float of_biases = sum_of_parts(starts_C.get() + X_);
    float largest[block_rows], totals[block_rows], kept[block_rows];
    for (std::int64_t first = 0; first < S; first += block_rows) {
        const std::int64_t rows = std::min(block_rows, S - first);
        bf16_small_matmul(rows, C, D / 2, left(q_SD.get() + first * D, D), keys_PC.get(), sums.get());
        largest_scores(shape, rows, sums.get(), largest);
        exponentials(shape, rows, sums.get(), largest, totals);
        for (std::int64_t i = 0; i < rows; ++i) {
            fetch_next_head(first + i);
            const float* const row = sums.get() + i * C;
            kept[i] = probabilities_row(shape, row, totals[i], keep.row(first + i), probabilities.get() + i * X_);
            log_sum_exp_TN[place_.in_rows_of_heads(first + i)] =
                largest[i] + std::log(totals[i]) + (sum_of_parts(row + X_) + of_biases) * shape.scale;
        }
        bf16_small_matmul(rows, D, X_ / 2, left(probabilities.get(), X_), values_XD.get(), context.get());
        put_rounded_rows(context.get(), rows, D, {kept, v_bias_}, 1, context_TH + place_.in_context() + first * H, H);
    }
}

void Bf16Head::put_key_and_value_gradients(const AcrossRows& of, Bf16* d_qkv, float* bias_sum) const {
    const std::int64_t S = place_.S, D = place_.D, H = place_.hidden;
    const Floats d_keys_SD = transposed_matmul(of.d_scores_SX, of.q_SD, S, X_, D),
                 d_values_SD = transposed_matmul(of.probabilities_SX, of.d_context_SD, S, X_, D);
    put_rounded_rows(d_keys_SD.get(), S, D, {of.d_scores_sums_X, q_bias_}, place_.scaling(), d_qkv + H, stride_);
    put_rounded_rows(d_values_SD.get(), S, D, {}, 1, d_qkv + 2 * H, stride_);
    add_weighted_rows(of.d_scores_sums_X, k_, stride_, S, D, place_.scaling(), bias_sum);
    add_weighted_rows(of.kept_S, of.d_context_SD, D, S, D, 1, bias_sum + 2 * H);
}

void Bf16Head::backward(const KeepRows& keep, const Bf16* d_context_TH, const float* log_sum_exp_TN, Bf16* d_qkv_T3H,
                        float* bias_sum_3H) const {
    const AmxSmallMatmuls matmuls;
    const std::int64_t S = place_.S, D = place_.D, H = place_.hidden, C = X_ + vector_columns;
    const Bf16* const d_context = d_context_TH + place_.in_context();
    Bf16* const d_qkv = d_qkv_T3H + place_.in_qkv();
    const Numbers q_SD = contiguous(q_, stride_, S, D), d_context_SD = contiguous(d_context, H, S, D),
                  probabilities_SX = head_memory<Bf16>(S * X_), d_scores_SX = head_memory<Bf16>(S * X_);
    const Pairs keys_PC = transposed(k_, k_bias_), values_PC = transposed(v_, v_bias_),
                keys_XD = paired_rows(k_, stride_, S, X_, D);
    const Floats starts_C = column_starts(keys_PC.get()), sums = head_memory<float>(block_rows * C),
                 d_sums = head_memory<float>(block_rows * C), d_q = head_memory<float>(block_rows * D),
                 kept_S = head_memory<float>(S), d_scores_sums_X = head_memory<float>(X_);
    const Scores shape = scores(starts_C.get());
    const float of_biases = sum_of_parts(starts_C.get() + X_);
    std::fill_n(d_scores_sums_X.get(), X_, 0.0F);
    float less[block_rows], totals[block_rows];
    for (std::int64_t first = 0; first < S; first += block_rows) {
        const std::int64_t rows = std::min(block_rows, S - first);
        bf16_small_matmul(rows, C, D / 2, left(q_SD.get() + first * D, D), keys_PC.get(), sums.get());
        bf16_small_matmul(rows, C, D / 2, left(d_context_SD.get() + first * D, D), values_PC.get(), d_sums.get());
        for (std::int64_t i = 0; i < rows; ++i)
            less[i] = log_sum_exp_TN[place_.in_rows_of_heads(first + i)] -
                      (sum_of_parts(sums.get() + i * C + X_) + of_biases) * shape.scale;
        exponentials(shape, rows, sums.get(), less, totals);
        for (std::int64_t i = 0; i < rows; ++i) {
            const std::int64_t s = first + i;
            fetch_next_head(s);
            fetch(d_context + s * H + D, D);
            float* const d_row = d_sums.get() + i * C;
            kept_S.get()[s] =
                probabilities_row_backward(shape, sums.get() + i * C, totals[i], keep.row(s), probabilities_SX.get() + s * X_,
                                           {d_row, sum_of_parts(d_row + X_), d_scores_SX.get() + s * X_, d_scores_sums_X.get()});
        }
        // Each row of d_scores sums to zero, so the key's bias does not affect dq.
        bf16_small_matmul(rows, D, X_ / 2, left(d_scores_SX.get() + first * X_, X_), keys_XD.get(), d_q.get());
        put_rounded_rows(d_q.get(), rows, D, {}, shape.scale, d_qkv + first * stride_, stride_);
    }
    const AcrossRows found{q_SD.get(),        d_context_SD.get(), probabilities_SX.get(),
                           d_scores_SX.get(), kept_S.get(),       d_scores_sums_X.get()};
    put_key_and_value_gradients(found, d_qkv, bias_sum_3H + place_.column);
}

}  // namespace bertpretrain::cpu
