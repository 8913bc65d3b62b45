#pragma once
// The row-wise arithmetic of attention, without torch: packing, softmax and its backward.

#include <cstdint>

#include "kernels/cpu/vector_math.h"

namespace bertpretrain::cpu {

/// to_SD = (rows + bias) * scale; consecutive rows are `stride` elements apart; `bias` may be null.
void take_rows(const Bf16* rows, std::int64_t stride, const float* bias, std::int64_t S, std::int64_t D, float scale,
               float* to_SD);
void take_rows(const float* rows, std::int64_t stride, const float* bias, std::int64_t S, std::int64_t D, float scale,
               float* to_SD);

/// rows = from_SD * scale; consecutive rows are `stride` elements apart.
void put_rows(const float* from_SD, std::int64_t S, std::int64_t D, float scale, Bf16* rows, std::int64_t stride);
void put_rows(const float* from_SD, std::int64_t S, std::int64_t D, float scale, float* rows, std::int64_t stride);

/// sums_D += scale * column sums of from_SD.
void add_column_sums(const float* from_SD, std::int64_t S, std::int64_t D, float scale, float* sums_D);

/// sums_D += scale * factors_S rows_SD; consecutive rows are `stride` elements apart.
void add_weighted_rows(const float* factors_S, const Bf16* rows, std::int64_t stride, std::int64_t S, std::int64_t D, float scale,
                       float* sums_D);

float dot(const float* a_D, const float* b_D, std::int64_t D);

/// sums_S = sums over X of each row; consecutive rows are `stride` elements apart.
void row_sums(const float* rows, std::int64_t stride, std::int64_t S, std::int64_t X, float* sums_S);

/// to_SD += factors_S row_D: adds a multiple of one row to each row of `to`.
void add_scaled_row(const float* factors_S, const float* row_D, std::int64_t S, std::int64_t D, float* to_SD);

constexpr float no_score = -1e30F;  ///< the score of padding

/// Replaces scores by softmax(scores) * keep (`keep` may be null). The padding from S to `filled`, where scores must be about
/// no_score, becomes zero.
/// @returns the log of the sum of exponentials
float softmax_row(float* scores, const float* keep, std::int64_t S, std::int64_t filled);

/// Replaces scores by softmax(scores) * keep, and d_probabilities (the gradient after dropout) by the gradient of the scores. The
/// padding from S to `filled`, where scores must be about no_score and d_probabilities finite, becomes zero in both.
void softmax_backward_row(float* scores, float log_sum_exp, const float* keep, std::int64_t S, std::int64_t filled,
                          float* d_probabilities);

}  // namespace bertpretrain::cpu
