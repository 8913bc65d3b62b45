#pragma once
// Elementwise arithmetic that compilers can vectorize: no branches, no calls. All functions are forced inline, because each
// kernel is compiled once per instruction set (instruction_set.h) together with them.

#include <bit>
#include <cstdint>

#include "kernels/cpu/instruction_set.h"
#include "kernels/interface/dropout.h"

namespace bertpretrain::cpu {

/// A bfloat16 as bits; convertible to torch's type without needing torch headers.
struct Bf16 {
    std::uint16_t bits;
};

BERTPRETRAIN_INLINE float load(const float* at) { return *at; }
BERTPRETRAIN_INLINE float load(const Bf16* at) { return std::bit_cast<float>(std::uint32_t{at->bits} << 16); }

BERTPRETRAIN_INLINE void store(float* at, float value) { *at = value; }
/// Rounds to nearest even. A quiet NaN (0x7FC00000) stays NaN, because its quiet bit is in the upper half.
BERTPRETRAIN_INLINE void store(Bf16* at, float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    at->bits = static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

/// Prefetches elements into the second-level cache; does nothing for null. The addresses need not be valid. For loops that are
/// too long for the hardware prefetcher to predict the next reads.
template <class T>
BERTPRETRAIN_INLINE void fetch(const T* at, std::int64_t elements) {
    constexpr auto line = static_cast<std::int64_t>(64 / sizeof(T));
    if (at != nullptr)
        for (std::int64_t i = 0; i < elements; i += line) __builtin_prefetch(at + i, 0, 2);
}

// Comparisons cost more than they seem to: if GCC can compute both outcomes further, it computes both to the end, divisions
// included, and selects afterwards. Signs and limits are therefore taken from the bits where that is exact.

/// The bits of x without the sign. Compared as integers, they order like the magnitudes.
BERTPRETRAIN_INLINE std::uint32_t magnitude_bits(float x) { return std::bit_cast<std::uint32_t>(x) & 0x7FFFFFFF; }
/// @param value not negative
BERTPRETRAIN_INLINE float with_sign_of(float x, float value) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | (std::bit_cast<std::uint32_t>(x) & 0x80000000));
}

/// e^x for x <= 88 with relative error below 1e-7; below -87, e^-87. x = n ln 2 + r; e^r is a minimax polynomial on
/// |r| <= ln 2 / 2 (fitted; relative error 3e-9); 2^n is built from the exponent bits.
BERTPRETRAIN_INLINE float exponential(float x) {
    x = x < -87.0F ? -87.0F : x;
    constexpr float round_by_adding = 12582912.0F;  // 1.5 * 2^23: adding it drops the fraction and leaves n in the lowest bits
    const float n_and_that = x * 1.44269504F + round_by_adding;
    const float n = n_and_that - round_by_adding;
    const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
    float p = 0.00138145988F;
    p = p * r + 0.00836871658F;
    p = p * r + 0.041668389F;
    p = p * r + 0.166665211F;
    p = p * r + 0.49999994F;
    p = (p * (r * r) + r) + 1.0F;
    return p * std::bit_cast<float>((std::bit_cast<std::uint32_t>(n_and_that) + 127) << 23);
}

/// The normal CDF (Phi) and density at x, for erf-GELU.
struct Normal {
    float distribution, density;
};
/// Absolute error below 1e-7. Phi(-|x|) = e^(-x^2 / 2) q(|x|), where q is a polynomial on [0, 5.5] fitted to minimize the largest
/// error of this product (4e-9). Beyond 5.5, e^(-x^2 / 2) is negligible.
BERTPRETRAIN_INLINE Normal normal(float x) {
    constexpr float end = 5.5F;
    const std::uint32_t bits = magnitude_bits(x), end_bits = std::bit_cast<std::uint32_t>(end);
    const float m = std::bit_cast<float>(bits < end_bits ? bits : end_bits);
    float q = 5.85300661e-08F;
    q = q * m - 1.60359889e-06F;
    q = q * m + 1.98924627e-05F;
    q = q * m - 0.000149788364F;
    q = q * m + 0.000779665483F;
    q = q * m - 0.00305533223F;
    q = q * m + 0.00965977367F;
    q = q * m - 0.0260691512F;
    q = q * m + 0.0622623749F;
    q = q * m - 0.132916898F;
    q = q * m + 0.249991104F;
    q = q * m - 0.398941785F;
    q = q * m + 0.5F;
    const float gauss = exponential(-0.5F * x * x);
    return {0.5F + with_sign_of(x, 0.5F - gauss * q), 0.39894228F * gauss};
}

/// tanh(x) with absolute error below 2e-7.
BERTPRETRAIN_INLINE float hyperbolic_tangent(float x) {
    const float near = x > 44.0F ? 44.0F : x;
    return 1.0F - 2.0F / (exponential(2.0F * near) + 1.0F);
}

/// 1 / (1 + e^-x) with relative error below 3e-7 where the result is above 1e-37.
BERTPRETRAIN_INLINE float logistic(float x) {
    const float minus = -x > 87.0F ? 87.0F : -x;
    return 1.0F / (1.0F + exponential(minus));
}

/// keep[e] = dropout factor (0 or 1 / (1 - p)) of element e of the row (sample, position), for e < elements.
/// `keep` must have room for `elements` rounded up to 128.
BERTPRETRAIN_INLINE void dropout_factors(const Dropout& dropout, std::uint64_t sample, std::uint32_t position,
                                         std::uint32_t group_base, std::int64_t elements, float* keep) {
    constexpr int lanes = 16;
    const std::uint32_t threshold = dropout.threshold();
    const float scale = dropout.scale();
    for (std::int64_t e = 0; e < elements; e += 8 * lanes) {
        std::uint32_t c[4][lanes];
#pragma omp simd
        for (int l = 0; l < lanes; ++l) {
            c[0][l] = group_base + static_cast<std::uint32_t>(e / 8) + static_cast<std::uint32_t>(l);
            c[1][l] = position | dropout.site << 16;
            c[2][l] = static_cast<std::uint32_t>(sample);
            c[3][l] = static_cast<std::uint32_t>(sample >> 32);
        }
        PhiloxRoundKey key{dropout.key[0], dropout.key[1]};
        for (int round = 0; round < philox_rounds; ++round, key.advance())
#pragma omp simd
            for (int l = 0; l < lanes; ++l) philox_round(c[0][l], c[1][l], c[2][l], c[3][l], key);
        for (int w = 0; w < 4; ++w)
#pragma omp simd
            for (int l = 0; l < lanes; ++l) {
                keep[e + lanes * (2 * w) + l] = (c[w][l] & 0xFFFF) < threshold ? 0.0F : scale;
                keep[e + lanes * (2 * w + 1) + l] = (c[w][l] >> 16) < threshold ? 0.0F : scale;
            }
    }
}

}  // namespace bertpretrain::cpu
