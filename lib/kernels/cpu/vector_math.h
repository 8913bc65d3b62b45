#pragma once
// Elementwise arithmetic that compilers vectorize: no branches, no calls. Everything is forced inline, because each kernel is
// compiled once per instruction set (by_instruction_set.h) and must take these along.

#include <bit>
#include <cstdint>

#include "kernels/cpu/by_instruction_set.h"
#include "kernels/dropout.h"

namespace bertpretrain::cpu {

/// The bits of a bfloat16; torch's own type is convertible, but this one needs no torch header.
struct Bf16 {
    std::uint16_t bits;
};

BERTPRETRAIN_INLINE float load(const float* at) { return *at; }
BERTPRETRAIN_INLINE float load(const Bf16* at) { return std::bit_cast<float>(std::uint32_t{at->bits} << 16); }

BERTPRETRAIN_INLINE void store(float* at, float value) { *at = value; }
/// Rounds to nearest even. Not-a-number stays one: its quiet bit lies in the upper half.
BERTPRETRAIN_INLINE void store(Bf16* at, float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    at->bits = static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

/// e^x for x in [-87, 88], relative error below 2e-7; below that range 0-like tiny numbers, above it a huge one.
/// x = n ln 2 + r; e^r by its Taylor polynomial on |r| <= ln 2 / 2; 2^n by the exponent's bits.
BERTPRETRAIN_INLINE float exponential(float x) {
    x = x < -87.0F ? -87.0F : x;
    x = x > 88.0F ? 88.0F : x;
    constexpr float round_by_adding = 12582912.0F;  // 1.5 * 2^23: adding it leaves no fraction bits
    const float n = (x * 1.44269504F + round_by_adding) - round_by_adding;
    const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
    float p = 1.0F / 5040;
    p = p * r + 1.0F / 720;
    p = p * r + 1.0F / 120;
    p = p * r + 1.0F / 24;
    p = p * r + 1.0F / 6;
    p = p * r + 0.5F;
    p = p * r + 1.0F;
    p = p * r + 1.0F;
    return p * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}

/// The normal distribution's value (Phi) and density at x, for erf-GELU.
struct Normal {
    float distribution, density;
};
/// Absolute error below 1.5e-7. Source: Abramowitz and Stegun 7.1.26, with erf's argument x / sqrt(2).
BERTPRETRAIN_INLINE Normal normal(float x) {
    const float gauss = exponential(-0.5F * x * x);
    const float magnitude = x < 0 ? -x : x;
    const float t = 1.0F / (1.0F + 0.3275911F * 0.70710678F * magnitude);
    const float tail =
        0.5F * gauss * t * (0.254829592F + t * (-0.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F))));
    return {x < 0 ? tail : 1.0F - tail, 0.39894228F * gauss};
}

/// tanh(x) with absolute error below 2e-7.
BERTPRETRAIN_INLINE float hyperbolic_tangent(float x) { return 1.0F - 2.0F / (exponential(2.0F * x) + 1.0F); }

/// keep[e] = dropout's factor (0 or 1 / (1 - p)) of element e of the row (sample, position), for e < elements.
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
        std::uint32_t k0 = dropout.key[0], k1 = dropout.key[1];
        for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9, k1 += 0xBB67AE85)
#pragma omp simd
            for (int l = 0; l < lanes; ++l) {
                const std::uint64_t a = std::uint64_t{0xD2511F53} * c[0][l], b = std::uint64_t{0xCD9E8D57} * c[2][l];
                c[0][l] = static_cast<std::uint32_t>(b >> 32) ^ c[1][l] ^ k0;
                c[1][l] = static_cast<std::uint32_t>(b);
                c[2][l] = static_cast<std::uint32_t>(a >> 32) ^ c[3][l] ^ k1;
                c[3][l] = static_cast<std::uint32_t>(a);
            }
        for (int w = 0; w < 4; ++w)
#pragma omp simd
            for (int l = 0; l < lanes; ++l) {
                keep[e + lanes * (2 * w) + l] = (c[w][l] & 0xFFFF) < threshold ? 0.0F : scale;
                keep[e + lanes * (2 * w + 1) + l] = (c[w][l] >> 16) < threshold ? 0.0F : scale;
            }
    }
}

}  // namespace bertpretrain::cpu
