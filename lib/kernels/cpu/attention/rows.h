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

/// Replaces scores by softmax(scores) * keep (`keep` may be null).
/// @returns the log of the sum of exponentials
float softmax_row(float* scores_S, const float* keep_S, std::int64_t S);

/// Replaces scores by softmax(scores) * keep, and d_probabilities (the gradient after dropout) by the gradient of the scores.
void softmax_backward_row(float* scores_S, float log_sum_exp, const float* keep_S, std::int64_t S, float* d_probabilities_S);

}  // namespace bertpretrain::cpu
