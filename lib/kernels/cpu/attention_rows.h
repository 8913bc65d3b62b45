#pragma once
// The row-wise arithmetic of attention, without torch: packing, softmax, its backward.

#include <cstdint>

#include "kernels/cpu/vector_math.h"

namespace bertpretrain::cpu {

/// to_SD = (rows + bias) * scale; rows lie `stride` apart; `bias` may be null.
void take_rows(const Bf16* rows, std::int64_t stride, const float* bias, std::int64_t S, std::int64_t D, float scale,
               float* to_SD);
void take_rows(const float* rows, std::int64_t stride, const float* bias, std::int64_t S, std::int64_t D, float scale,
               float* to_SD);

/// rows = from_SD * scale; rows lie `stride` apart.
void put_rows(const float* from_SD, std::int64_t S, std::int64_t D, float scale, Bf16* rows, std::int64_t stride);
void put_rows(const float* from_SD, std::int64_t S, std::int64_t D, float scale, float* rows, std::int64_t stride);

/// sums_D += scale * column sums of from_SD.
void add_column_sums(const float* from_SD, std::int64_t S, std::int64_t D, float scale, float* sums_D);

/// sums_D += scale * factors_S rows_SD; rows lie `stride` apart.
void add_weighted_rows(const float* factors_S, const Bf16* rows, std::int64_t stride, std::int64_t S, std::int64_t D, float scale,
                       float* sums_D);

float dot(const float* a_D, const float* b_D, std::int64_t D);

/// sums_S = the sums over X of rows that lie `stride` apart.
void row_sums(const float* rows, std::int64_t stride, std::int64_t S, std::int64_t X, float* sums_S);

/// to_SD += factors_S row_D: each row of `to` gets a multiple of one row.
void add_scaled_row(const float* factors_S, const float* row_D, std::int64_t S, std::int64_t D, float* to_SD);

constexpr float no_score = -1e30F;  ///< where there is no key

/// scores become softmax(scores) * keep (`keep` may be null). From S to `filled`, where they are about no_score, they become
/// zeros.
/// @returns the log of the sum of exponentials
float softmax_row(float* scores, const float* keep, std::int64_t S, std::int64_t filled);

/// scores become softmax(scores) * keep; d_probabilities (of the kept ones) become the gradient of the scores. From S to
/// `filled`, where scores are about no_score and d_probabilities finite, both become zeros.
void softmax_backward_row(float* scores, float log_sum_exp, const float* keep, std::int64_t S, std::int64_t filled,
                          float* d_probabilities);

}  // namespace bertpretrain::cpu
