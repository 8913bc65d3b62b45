#include "kernels/cpu/attention_rows.h"

#include <cmath>

namespace bertpretrain::cpu {
namespace {
namespace bodies {

template <class W>
BERTPRETRAIN_INLINE void take_rows(const W* rows, std::int64_t stride, const float* bias, std::int64_t S, std::int64_t D,
                                   float scale, float* to) {
    for (std::int64_t s = 0; s < S; ++s)
        if (bias != nullptr)
#pragma omp simd
            for (std::int64_t d = 0; d < D; ++d) to[s * D + d] = (load(rows + s * stride + d) + bias[d]) * scale;
        else
#pragma omp simd
            for (std::int64_t d = 0; d < D; ++d) to[s * D + d] = load(rows + s * stride + d) * scale;
}

template <class W>
BERTPRETRAIN_INLINE void put_rows(const float* from, std::int64_t S, std::int64_t D, float scale, W* rows, std::int64_t stride) {
    for (std::int64_t s = 0; s < S; ++s)
#pragma omp simd
        for (std::int64_t d = 0; d < D; ++d) store(rows + s * stride + d, from[s * D + d] * scale);
}

BERTPRETRAIN_INLINE void add_column_sums(const float* from_SD, std::int64_t S, std::int64_t D, float scale, float* sums_D) {
    for (std::int64_t s = 0; s < S; ++s)
#pragma omp simd
        for (std::int64_t d = 0; d < D; ++d) sums_D[d] += from_SD[s * D + d] * scale;
}

BERTPRETRAIN_INLINE void add_weighted_rows(const float* factors_S, const Bf16* rows, std::int64_t stride, std::int64_t S,
                                           std::int64_t D, float scale, float* sums_D) {
    for (std::int64_t s = 0; s < S; ++s) {
        const float factor = factors_S[s] * scale;
#pragma omp simd
        for (std::int64_t d = 0; d < D; ++d) sums_D[d] += factor * load(rows + s * stride + d);
    }
}

BERTPRETRAIN_INLINE float dot(const float* a_D, const float* b_D, std::int64_t D) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t d = 0; d < D; ++d) sum += a_D[d] * b_D[d];
    return sum;
}

BERTPRETRAIN_INLINE void row_sums(const float* rows, std::int64_t stride, std::int64_t S, std::int64_t X, float* sums_S) {
    for (std::int64_t s = 0; s < S; ++s) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t x = 0; x < X; ++x) sum += rows[s * stride + x];
        sums_S[s] = sum;
    }
}

BERTPRETRAIN_INLINE void add_scaled_row(const float* factors_S, const float* row_D, std::int64_t S, std::int64_t D,
                                        float* to_SD) {
    for (std::int64_t s = 0; s < S; ++s)
#pragma omp simd
        for (std::int64_t d = 0; d < D; ++d) to_SD[s * D + d] += factors_S[s] * row_D[d];
}

BERTPRETRAIN_INLINE void fill(float* row, std::int64_t from, std::int64_t end, float value) {
    for (std::int64_t j = from; j < end; ++j) row[j] = value;
}

/// Loops run up to `filled`, because a remainder shorter than a vector would be computed one element at a time. Exponentials of
/// the padding are too small to change the sum; they are set to zero afterwards.
BERTPRETRAIN_INLINE float softmax_row(float* scores, const float* keep, std::int64_t S, std::int64_t filled) {
    float largest = scores[0];
#pragma omp simd reduction(max : largest)
    for (std::int64_t j = 0; j < filled; ++j) largest = scores[j] > largest ? scores[j] : largest;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t j = 0; j < filled; ++j) {
        scores[j] = exponential(scores[j] - largest);
        sum += scores[j];
    }
    fill(scores, S, filled, 0);
    const float inverse = 1.0F / sum;
    if (keep != nullptr)
#pragma omp simd
        for (std::int64_t j = 0; j < filled; ++j) scores[j] *= inverse * keep[j];
    else
#pragma omp simd
        for (std::int64_t j = 0; j < filled; ++j) scores[j] *= inverse;
    return largest + std::log(sum);
}

BERTPRETRAIN_INLINE void softmax_backward_row(float* scores, float log_sum_exp, const float* keep, std::int64_t S,
                                              std::int64_t filled, float* d_probabilities) {
    fill(d_probabilities, S, filled, 0);
    if (keep != nullptr)
#pragma omp simd
        for (std::int64_t j = 0; j < filled; ++j) d_probabilities[j] *= keep[j];
    float sum = 0, along = 0;
#pragma omp simd reduction(+ : sum, along)
    for (std::int64_t j = 0; j < filled; ++j) {
        scores[j] = exponential(scores[j] - log_sum_exp);
        sum += scores[j];
        along += scores[j] * d_probabilities[j];
    }
    fill(scores, S, filled, 0);
    // Dividing by their own sum makes probabilities add up to 1 more exactly than log_sum_exp does. If all keys are alike, the
    // common part of d_probabilities must cancel, and it is far larger than what remains.
    const float inverse = 1.0F / sum;
    along *= inverse;
#pragma omp simd
    for (std::int64_t j = 0; j < filled; ++j) {
        scores[j] *= inverse;
        d_probabilities[j] = scores[j] * (d_probabilities[j] - along);
    }
    if (keep != nullptr)
#pragma omp simd
        for (std::int64_t j = 0; j < filled; ++j) scores[j] *= keep[j];
}

}  // namespace bodies
}  // namespace

void take_rows(const Bf16* rows, std::int64_t stride, const float* bias, std::int64_t S, std::int64_t D, float scale,
               float* to_SD) {
    by_instruction_set<&bodies::take_rows<Bf16>>(rows, stride, bias, S, D, scale, to_SD);
}
void take_rows(const float* rows, std::int64_t stride, const float* bias, std::int64_t S, std::int64_t D, float scale,
               float* to_SD) {
    by_instruction_set<&bodies::take_rows<float>>(rows, stride, bias, S, D, scale, to_SD);
}
void put_rows(const float* from_SD, std::int64_t S, std::int64_t D, float scale, Bf16* rows, std::int64_t stride) {
    by_instruction_set<&bodies::put_rows<Bf16>>(from_SD, S, D, scale, rows, stride);
}
void put_rows(const float* from_SD, std::int64_t S, std::int64_t D, float scale, float* rows, std::int64_t stride) {
    by_instruction_set<&bodies::put_rows<float>>(from_SD, S, D, scale, rows, stride);
}
void add_column_sums(const float* from_SD, std::int64_t S, std::int64_t D, float scale, float* sums_D) {
    by_instruction_set<&bodies::add_column_sums>(from_SD, S, D, scale, sums_D);
}
void add_weighted_rows(const float* factors_S, const Bf16* rows, std::int64_t stride, std::int64_t S, std::int64_t D, float scale,
                       float* sums_D) {
    by_instruction_set<&bodies::add_weighted_rows>(factors_S, rows, stride, S, D, scale, sums_D);
}
float dot(const float* a_D, const float* b_D, std::int64_t D) { return by_instruction_set<&bodies::dot>(a_D, b_D, D); }
void row_sums(const float* rows, std::int64_t stride, std::int64_t S, std::int64_t X, float* sums_S) {
    by_instruction_set<&bodies::row_sums>(rows, stride, S, X, sums_S);
}
void add_scaled_row(const float* factors_S, const float* row_D, std::int64_t S, std::int64_t D, float* to_SD) {
    by_instruction_set<&bodies::add_scaled_row>(factors_S, row_D, S, D, to_SD);
}
float softmax_row(float* scores, const float* keep, std::int64_t S, std::int64_t filled) {
    return by_instruction_set<&bodies::softmax_row>(scores, keep, S, filled);
}
void softmax_backward_row(float* scores, float log_sum_exp, const float* keep, std::int64_t S, std::int64_t filled,
                          float* d_probabilities) {
    by_instruction_set<&bodies::softmax_backward_row>(scores, log_sum_exp, keep, S, filled, d_probabilities);
}

}  // namespace bertpretrain::cpu
