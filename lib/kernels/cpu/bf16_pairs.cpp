#include "kernels/cpu/bf16_pairs.h"

#include <algorithm>
#include <cstdlib>

#if defined(__x86_64__)
// GCC 12 warns about the deliberately undefined operands in its own intrinsics header (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include "kernels/cpu/word_blocks.h"

namespace bertpretrain::cpu {
namespace {

BERTPRETRAIN_BF16_INLINE __m256i rounded(__m512 values) { return reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(values)); }
/// Loads sixteen bf16 numbers, each into the lower half of its 32-bit word.
BERTPRETRAIN_WORDS_INLINE __m512i lower_halves(const Bf16* at) {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}

/// Transposes 16 x 16 words; rows from `rows` on are read as zeros.
BERTPRETRAIN_WORDS_INLINE void transpose_block(const AliasingPair* from, std::int64_t from_step, std::int64_t rows, Pair* to,
                                               std::int64_t to_step) {
    __m512i words[16];
    for (int i = 0; i < 16; ++i) words[i] = i < rows ? _mm512_loadu_si512(from + i * from_step) : _mm512_setzero_si512();
    transpose(words);
    for (int i = 0; i < 16; ++i) _mm512_storeu_si512(to + i * to_step, words[i]);
}

}  // namespace

BERTPRETRAIN_BF16 void split_row(const float* row, std::int64_t D, Pair* to) {
    for (std::int64_t d = 0; d < D; d += pair_lanes) {
        __m512 rest = _mm512_loadu_ps(row + d);
        for (std::int64_t part = 0; part < bf16_parts; ++part) {
            const __m256i of_part = rounded(rest);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + (part * D + d) / 2), of_part);
            rest = _mm512_sub_ps(rest, _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(of_part), 16)));
        }
    }
}

BERTPRETRAIN_WORDS void pair_across_rows(const Bf16* upper, const Bf16* lower, std::int64_t D, Pair* to) {
    for (std::int64_t d = 0; d < D; d += pair_lanes) {
        __m512i pairs = lower_halves(upper + d);
        if (lower != nullptr) pairs = _mm512_or_si512(pairs, _mm512_slli_epi32(lower_halves(lower + d), 16));
        _mm512_storeu_si512(to + d, pairs);
    }
}

BERTPRETRAIN_WORDS void transpose_pairs(const void* rows, std::int64_t stride, std::int64_t S, std::int64_t P, std::int64_t X,
                                        Pair* to_PX, std::int64_t to_stride) {
    for (std::int64_t s = 0; s < X; s += pair_lanes)
        for (std::int64_t p = 0; p < P; p += pair_lanes)
            transpose_block(static_cast<const AliasingPair*>(rows) + s * stride + p, stride,
                            std::clamp(S - s, std::int64_t{0}, pair_lanes), to_PX + p * to_stride + s, to_stride);
}

BERTPRETRAIN_BF16 void put_rounded_rows(const float* from_SD, std::int64_t S, std::int64_t D, const OuterProduct& product,
                                        float scale, Bf16* rows, std::int64_t stride) {
    for (std::int64_t s = 0; s < S; ++s)
        for (std::int64_t d = 0; d < D; d += pair_lanes) {
            __m512 values = _mm512_loadu_ps(from_SD + s * D + d);
            if (product.factors_S != nullptr)
                values = _mm512_fmadd_ps(_mm512_set1_ps(product.factors_S[s]), _mm512_loadu_ps(product.row_D + d), values);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(rows + s * stride + d),
                                rounded(_mm512_mul_ps(values, _mm512_set1_ps(scale))));
        }
}

}  // namespace bertpretrain::cpu

#else

namespace bertpretrain::cpu {

// Unreachable: has_bf16_matmul() is false.
void split_row(const float*, std::int64_t, Pair*) { std::abort(); }
void pair_across_rows(const Bf16*, const Bf16*, std::int64_t, Pair*) { std::abort(); }
void transpose_pairs(const void*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, Pair*, std::int64_t) { std::abort(); }
void put_rounded_rows(const float*, std::int64_t, std::int64_t, const OuterProduct&, float, Bf16*, std::int64_t) { std::abort(); }

}  // namespace bertpretrain::cpu

#endif
