#include "kernels/cpu/bf16_small_matmul.h"

#include <algorithm>
#include <cstdlib>

#include "kernels/cpu/amx_small_matmul.h"

#if defined(__x86_64__)
// GCC 12 warns about the deliberately undefined operands in its own intrinsics header (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include "kernels/cpu/word_blocks.h"

#define BERTPRETRAIN_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))
#define BERTPRETRAIN_BF16_INLINE BERTPRETRAIN_BF16 inline __attribute__((always_inline))

namespace bertpretrain::cpu {
namespace {

BERTPRETRAIN_BF16_INLINE __m256i rounded(__m512 values) { return reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(values)); }
/// Loads sixteen bf16 numbers, each into the lower half of its 32-bit word.
BERTPRETRAIN_BF16_INLINE __m512i lower_halves(const Bf16* at) {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}
BERTPRETRAIN_BF16_INLINE __m512i lower_halves(const float* at) { return _mm512_cvtepu16_epi32(rounded(_mm512_loadu_ps(at))); }

/// Computes `Rows` rows and `Vectors` vectors of C, kept in registers.
template <std::int64_t Rows, std::int64_t Vectors>
BERTPRETRAIN_BF16_INLINE void tile(std::int64_t m, std::int64_t n, std::int64_t N, std::int64_t P, const PairedRows& a,
                                   const Pair* b_PN, const MatmulFrame& frame, float* c_MN) {
    __m512 sums[std::size_t{Rows}][std::size_t{Vectors}];
    for (std::int64_t v = 0; v < Vectors; ++v) {
        const __m512 start = frame.start_N == nullptr ? _mm512_setzero_ps() : _mm512_loadu_ps(frame.start_N + n + v * pair_lanes);
        for (std::int64_t r = 0; r < Rows; ++r)
            sums[r][v] = frame.start_M == nullptr ? start : _mm512_add_ps(start, _mm512_set1_ps(frame.start_M[m + r]));
    }
    const auto* left = static_cast<const AliasingPair*>(a.at) + m * a.row_step;
    const Pair* right = b_PN + n;
    for (std::int64_t p = 0; p < P; ++p, left += a.pair_step, right += N) {
        __m512bh columns[std::size_t{Vectors}];
        for (std::int64_t v = 0; v < Vectors; ++v)
            columns[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(right + v * pair_lanes));
        for (std::int64_t r = 0; r < Rows; ++r) {
            const auto both = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(left[r * a.row_step])));
            for (std::int64_t v = 0; v < Vectors; ++v) sums[r][v] = _mm512_dpbf16_ps(sums[r][v], both, columns[v]);
        }
    }
    const __m512 scale = _mm512_set1_ps(frame.scale);
    for (std::int64_t r = 0; r < Rows; ++r)
        for (std::int64_t v = 0; v < Vectors; ++v)
            _mm512_storeu_ps(c_MN + (m + r) * N + n + v * pair_lanes, _mm512_mul_ps(sums[r][v], scale));
}

/// Computes all rows of `Vectors` vectors of columns: as many at once as fit the 32 registers, then the rest one by one.
template <std::int64_t Vectors>
BERTPRETRAIN_BF16 void panel(std::int64_t M, std::int64_t n, std::int64_t N, std::int64_t P, const PairedRows& a,
                             const Pair* b_PN, const MatmulFrame& frame, float* c_MN) {
    constexpr std::int64_t rows = 24 / Vectors < 8 ? 24 / Vectors : 8;
    std::int64_t m = 0;
    for (; m + rows <= M; m += rows) tile<rows, Vectors>(m, n, N, P, a, b_PN, frame, c_MN);
    for (; m < M; ++m) tile<1, Vectors>(m, n, N, P, a, b_PN, frame, c_MN);
}

BERTPRETRAIN_BF16 void matmul_by_vectors(std::int64_t M, std::int64_t N, std::int64_t P, const PairedRows& a, const Pair* b_PN,
                                         const MatmulFrame& frame, float* c_MN) {
    std::int64_t n = 0;
    for (; n + 4 * pair_lanes <= N; n += 4 * pair_lanes) panel<4>(M, n, N, P, a, b_PN, frame, c_MN);
    for (; n + 2 * pair_lanes <= N; n += 2 * pair_lanes) panel<2>(M, n, N, P, a, b_PN, frame, c_MN);
    for (; n < N; n += pair_lanes) panel<1>(M, n, N, P, a, b_PN, frame, c_MN);
}

}  // namespace

void bf16_small_matmul(std::int64_t M, std::int64_t N, std::int64_t P, const PairedRows& a, const Pair* b_PN,
                       const MatmulFrame& frame, float* c_MN) {
    const bool rows_fill_tiles = a.pair_step == 1 || a.pair_step >= in_whole_tiles(M);
    if (has_amx() && P % tile_lanes == 0 && rows_fill_tiles) amx_small_matmul(M, N, P, a, b_PN, frame, c_MN);
    else matmul_by_vectors(M, N, P, a, b_PN, frame, c_MN);
}

BERTPRETRAIN_BF16 void pair_along_row(const float* row, std::int64_t D, Pair* to) {
    for (std::int64_t d = 0; d < D; d += pair_lanes)
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + d / 2), rounded(_mm512_loadu_ps(row + d)));
}

template <class W>
BERTPRETRAIN_BF16_INLINE void pair_rows(const W* upper, const W* lower, std::int64_t D, Pair* to) {
    for (std::int64_t d = 0; d < D; d += pair_lanes) {
        __m512i pairs = lower_halves(upper + d);
        if (lower != nullptr) pairs = _mm512_or_si512(pairs, _mm512_slli_epi32(lower_halves(lower + d), 16));
        _mm512_storeu_si512(to + d, pairs);
    }
}
BERTPRETRAIN_BF16 void pair_across_rows(const Bf16* upper, const Bf16* lower, std::int64_t D, Pair* to) {
    pair_rows(upper, lower, D, to);
}
BERTPRETRAIN_BF16 void pair_across_rows(const float* upper, const float* lower, std::int64_t D, Pair* to) {
    pair_rows(upper, lower, D, to);
}

/// Transposes 16 x 16 words; rows from `rows` on are read as zeros.
BERTPRETRAIN_BF16_INLINE void transpose_block(const AliasingPair* from, std::int64_t from_step, std::int64_t rows, Pair* to,
                                              std::int64_t to_step) {
    __m512i words[16];
    for (int i = 0; i < 16; ++i) words[i] = i < rows ? _mm512_loadu_si512(from + i * from_step) : _mm512_setzero_si512();
    transpose(words);
    for (int i = 0; i < 16; ++i) _mm512_storeu_si512(to + i * to_step, words[i]);
}

BERTPRETRAIN_BF16 void transpose_pairs(const void* rows, std::int64_t stride, std::int64_t S, std::int64_t P, std::int64_t X,
                                       Pair* to_PX) {
    for (std::int64_t s = 0; s < X; s += pair_lanes)
        for (std::int64_t p = 0; p < P; p += pair_lanes)
            transpose_block(static_cast<const AliasingPair*>(rows) + s * stride + p, stride,
                            std::clamp(S - s, std::int64_t{0}, pair_lanes), to_PX + p * X + s, X);
}

}  // namespace bertpretrain::cpu

#else

namespace bertpretrain::cpu {

// Unreachable: has_bf16_matmul() is false.
void bf16_small_matmul(std::int64_t, std::int64_t, std::int64_t, const PairedRows&, const Pair*, const MatmulFrame&, float*) {
    std::abort();
}
void pair_along_row(const float*, std::int64_t, Pair*) { std::abort(); }
void pair_across_rows(const Bf16*, const Bf16*, std::int64_t, Pair*) { std::abort(); }
void pair_across_rows(const float*, const float*, std::int64_t, Pair*) { std::abort(); }
void transpose_pairs(const void*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, Pair*) { std::abort(); }

}  // namespace bertpretrain::cpu

#endif
