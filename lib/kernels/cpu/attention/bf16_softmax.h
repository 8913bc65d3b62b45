#pragma once
// Softmax over some rows of scores, and its backward, with results rounded to bf16 for the next matmul: each step for all rows
// before the next step, because a row's sums have to wait for each other. Only where has_bf16_matmul().

#include <cstdint>

#include "kernels/cpu/vector_math.h"

namespace bertpretrain::cpu {

/// Rows of sums of products, and how they become scores: (sum + start of the column) * scale.
struct Scores {
    std::int64_t S, X;     ///< keys; columns with padding, a multiple of 16
    const float* start_X;  ///< finite, also for the padding
    float scale;
    std::int64_t row_stride;  ///< at least X
};

/// Stores the largest score of each row.
void largest_scores(const Scores& scores, std::int64_t rows, const float* sums, float* largest);

/// Replaces the sums by e^(score - less of the row), in the padding by zeros, and stores the totals of the rows.
void exponentials(const Scores& scores, std::int64_t rows, float* sums, const float* less, float* totals);

/// probabilities_X = exponentials / total * keep, where keep_X are dropout factors, or null.
/// @returns their sum before they are rounded
float probabilities_row(const Scores& scores, const float* exponentials_X, float total, const float* keep_X,
                        Bf16* probabilities_X);

/// The gradients of one row, and where they are added.
struct SoftmaxGradients {
    float* d_probabilities_X;  ///< from which `d_start` of all columns is missing; used as memory
    float d_start;
    Bf16* d_scores_X;        ///< receives the gradient of the scores
    float* d_scores_sums_X;  ///< the same in fp32 is added here
};
/// probabilities_row() again, and its backward through the softmax.
float probabilities_row_backward(const Scores& scores, const float* exponentials_X, float total, const float* keep_X,
                                 Bf16* probabilities_X, const SoftmaxGradients& gradients);

}  // namespace bertpretrain::cpu
