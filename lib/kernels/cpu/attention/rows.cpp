#include "kernels/cpu/attention/rows.h"

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

BERTPRETRAIN_INLINE float softmax_row(float* scores_S, const float* keep_S, std::int64_t S) {
    float largest = scores_S[0];
#pragma omp simd reduction(max : largest)
    for (std::int64_t j = 0; j < S; ++j) largest = scores_S[j] > largest ? scores_S[j] : largest;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t j = 0; j < S; ++j) {
        scores_S[j] = exponential(scores_S[j] - largest);
        sum += scores_S[j];
    }
    const float inverse = 1.0F / sum;
    if (keep_S != nullptr)
#pragma omp simd
        for (std::int64_t j = 0; j < S; ++j) scores_S[j] *= inverse * keep_S[j];
    else
#pragma omp simd
        for (std::int64_t j = 0; j < S; ++j) scores_S[j] *= inverse;
    return largest + std::log(sum);
}

BERTPRETRAIN_INLINE void softmax_backward_row(float* scores_S, float log_sum_exp, const float* keep_S, std::int64_t S,
                                              float* d_probabilities_S) {
    if (keep_S != nullptr)
#pragma omp simd
        for (std::int64_t j = 0; j < S; ++j) d_probabilities_S[j] *= keep_S[j];
    float sum = 0, along = 0;
#pragma omp simd reduction(+ : sum, along)
    for (std::int64_t j = 0; j < S; ++j) {
        scores_S[j] = exponential(scores_S[j] - log_sum_exp);
        sum += scores_S[j];
        along += scores_S[j] * d_probabilities_S[j];
    }
    // Dividing by their own sum makes probabilities add up to 1 more exactly than log_sum_exp does. If all keys are alike, the
    // common part of d_probabilities must cancel, and it is far larger than what remains.
    const float inverse = 1.0F / sum;
    along *= inverse;
#pragma omp simd
    for (std::int64_t j = 0; j < S; ++j) {
        scores_S[j] *= inverse;
        d_probabilities_S[j] = scores_S[j] * (d_probabilities_S[j] - along);
    }
    if (keep_S != nullptr)
#pragma omp simd
        for (std::int64_t j = 0; j < S; ++j) scores_S[j] *= keep_S[j];
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
float softmax_row(float* scores_S, const float* keep_S, std::int64_t S) {
    return by_instruction_set<&bodies::softmax_row>(scores_S, keep_S, S);
}
void softmax_backward_row(float* scores_S, float log_sum_exp, const float* keep_S, std::int64_t S, float* d_probabilities_S) {
    by_instruction_set<&bodies::softmax_backward_row>(scores_S, log_sum_exp, keep_S, S, d_probabilities_S);
}

}  // namespace bertpretrain::cpu
