#include "kernels/cpu/attention/bf16_softmax.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#if defined(__x86_64__)
// GCC 12 warns about the deliberately undefined operands in its own intrinsics header (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include "kernels/cpu/word_blocks.h"

namespace bertpretrain::cpu {
namespace {

constexpr std::int64_t lanes = 16;

/// exponential() of vector_math.h; of NaN, NaN.
BERTPRETRAIN_BF16_INLINE __m512 exponential(__m512 x) {
    x = _mm512_max_ps(_mm512_set1_ps(-87.0F), x);  // of two operands one of which is NaN, this instruction returns the second
    const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504F)), _MM_FROUND_TO_NEAREST_INT);
    __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375F), x);
    r = _mm512_fmadd_ps(n, _mm512_set1_ps(2.12194440e-4F), r);
    __m512 p = _mm512_set1_ps(0.00138145988F);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.00836871658F));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.041668389F));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.166665211F));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.49999994F));
    p = _mm512_fmadd_ps(p, _mm512_mul_ps(r, r), r);
    return _mm512_scalef_ps(_mm512_add_ps(p, _mm512_set1_ps(1.0F)), n);
}

/// Returns which of the columns x..x + 15 are keys.
BERTPRETRAIN_BF16_INLINE __mmask16 keys_from(const Scores& scores, std::int64_t x) {
    return static_cast<__mmask16>((1U << std::clamp<std::int64_t>(scores.S - x, 0, lanes)) - 1);
}

BERTPRETRAIN_BF16_INLINE __m512 score(const Scores& scores, const float* sums_X, std::int64_t x) {
    const __m512 sum = _mm512_add_ps(_mm512_loadu_ps(sums_X + x), _mm512_loadu_ps(scores.start_X + x));
    return _mm512_mul_ps(sum, _mm512_set1_ps(scores.scale));
}

BERTPRETRAIN_BF16_INLINE void store_rounded(Bf16* at, __m512 values) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(values)));
}

BERTPRETRAIN_BF16_INLINE __m512 times(__m512 values, const float* factors_X, std::int64_t x) {
    return factors_X == nullptr ? values : _mm512_mul_ps(values, _mm512_loadu_ps(factors_X + x));
}

}  // namespace

/// Ignores NaN, as it may: a NaN among the scores makes all exponentials' total NaN.
BERTPRETRAIN_BF16 void largest_scores(const Scores& scores, std::int64_t rows, const float* sums, float* largest) {
    for (std::int64_t i = 0; i < rows; ++i, sums += scores.row_stride) {
        __m512 most = _mm512_set1_ps(-INFINITY);
        std::int64_t x = 0;
        for (; x + lanes <= scores.S; x += lanes) most = _mm512_max_ps(score(scores, sums, x), most);
        if (x < scores.S) most = _mm512_mask_max_ps(most, keys_from(scores, x), score(scores, sums, x), most);
        largest[i] = _mm512_reduce_max_ps(most);
    }
}

BERTPRETRAIN_BF16 void exponentials(const Scores& scores, std::int64_t rows, float* sums, const float* less, float* totals) {
    for (std::int64_t i = 0; i < rows; ++i, sums += scores.row_stride) {
        __m512 total = _mm512_setzero_ps();
        for (std::int64_t x = 0; x < scores.X; x += lanes) {
            __m512 value = exponential(_mm512_sub_ps(score(scores, sums, x), _mm512_set1_ps(less[i])));
            if (x + lanes > scores.S) value = _mm512_maskz_mov_ps(keys_from(scores, x), value);
            _mm512_storeu_ps(sums + x, value);
            total = _mm512_add_ps(total, value);
        }
        totals[i] = _mm512_reduce_add_ps(total);
    }
}

BERTPRETRAIN_BF16 float probabilities_row(const Scores& scores, const float* exponentials_X, float total, const float* keep_X,
                                          Bf16* probabilities_X) {
    __m512 kept = _mm512_setzero_ps();
    const __m512 inverse = _mm512_set1_ps(1.0F / total);
    for (std::int64_t x = 0; x < scores.X; x += lanes) {
        const __m512 value = times(_mm512_mul_ps(_mm512_loadu_ps(exponentials_X + x), inverse), keep_X, x);
        kept = _mm512_add_ps(kept, value);
        store_rounded(probabilities_X + x, value);
    }
    return _mm512_reduce_add_ps(kept);
}

BERTPRETRAIN_BF16 float probabilities_row_backward(const Scores& scores, const float* exponentials_X, float total,
                                                   const float* keep_X, Bf16* probabilities_X,
                                                   const SoftmaxGradients& gradients) {
    __m512 along = _mm512_setzero_ps(), kept = _mm512_setzero_ps();
    float* const d_X = gradients.d_probabilities_X;
    for (std::int64_t x = 0; x < scores.X; x += lanes) {
        const __m512 d = times(_mm512_add_ps(_mm512_loadu_ps(d_X + x), _mm512_set1_ps(gradients.d_start)), keep_X, x);
        along = _mm512_fmadd_ps(_mm512_loadu_ps(exponentials_X + x), d, along);
        _mm512_storeu_ps(d_X + x, d);
    }
    // The total, and not log_sum_exp, makes probabilities add up to exactly 1. If all keys are alike, the common part of their
    // gradients must cancel, and it is far larger than what remains.
    const __m512 inverse = _mm512_set1_ps(1.0F / total), mean = _mm512_set1_ps(_mm512_reduce_add_ps(along) / total);
    for (std::int64_t x = 0; x < scores.X; x += lanes) {
        const __m512 value = _mm512_mul_ps(_mm512_loadu_ps(exponentials_X + x), inverse);
        const __m512 d_score = _mm512_mul_ps(value, _mm512_sub_ps(_mm512_loadu_ps(d_X + x), mean));
        const __m512 kept_value = times(value, keep_X, x);
        float* const sum = gradients.d_scores_sums_X + x;
        kept = _mm512_add_ps(kept, kept_value);
        store_rounded(probabilities_X + x, kept_value);
        store_rounded(gradients.d_scores_X + x, d_score);
        _mm512_storeu_ps(sum, _mm512_add_ps(_mm512_loadu_ps(sum), d_score));
    }
    return _mm512_reduce_add_ps(kept);
}

}  // namespace bertpretrain::cpu

#else

namespace bertpretrain::cpu {

// Unreachable: has_bf16_matmul() is false.
void largest_scores(const Scores&, std::int64_t, const float*, float*) { std::abort(); }
void exponentials(const Scores&, std::int64_t, float*, const float*, float*) { std::abort(); }
float probabilities_row(const Scores&, const float*, float, const float*, Bf16*) { std::abort(); }
float probabilities_row_backward(const Scores&, const float*, float, const float*, Bf16*, const SoftmaxGradients&) {
    std::abort();
}

}  // namespace bertpretrain::cpu

#endif
