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

/// scores become softmax(scores) * keep (`keep` may be null). @returns the log of the sum of exponentials
float softmax_row(float* scores, const float* keep, std::int64_t S);

/// scores become softmax(scores) * keep; d_probabilities (of the kept ones) become the gradient of the scores.
void softmax_backward_row(float* scores, float log_sum_exp, const float* keep, std::int64_t S, float* d_probabilities);

}  // namespace bertpretrain::cpu
