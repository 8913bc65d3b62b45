#include "kernels/cpu/attention/bf16_small_matmul.h"

#include <cstdlib>

#include "core/rounding.h"
#include "kernels/cpu/amx/small_matmul.h"

#if defined(__x86_64__)
// GCC 12 warns about the deliberately undefined operands in its own intrinsics header (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include "kernels/cpu/word_blocks.h"

namespace bertpretrain::cpu {
namespace {

/// Computes `Rows` rows and `Vectors` vectors of C, kept in registers.
template <std::int64_t Rows, std::int64_t Vectors>
BERTPRETRAIN_BF16_INLINE void tile(std::int64_t m, std::int64_t n, std::int64_t N, std::int64_t P, const PairedRows& a,
                                   const Pair* b_PN, float* c_MN) {
    __m512 sums[std::size_t{Rows}][std::size_t{Vectors}];
    for (std::int64_t r = 0; r < Rows; ++r)
        for (std::int64_t v = 0; v < Vectors; ++v) sums[r][v] = _mm512_setzero_ps();
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
    for (std::int64_t r = 0; r < Rows; ++r)
        for (std::int64_t v = 0; v < Vectors; ++v) _mm512_storeu_ps(c_MN + (m + r) * N + n + v * pair_lanes, sums[r][v]);
}

/// Computes all rows of `Vectors` vectors of columns: as many at once as fit the 32 registers, then the rest one by one.
template <std::int64_t Vectors>
BERTPRETRAIN_BF16 void panel(std::int64_t M, std::int64_t n, std::int64_t N, std::int64_t P, const PairedRows& a,
                             const Pair* b_PN, float* c_MN) {
    constexpr std::int64_t rows = 24 / Vectors < 8 ? 24 / Vectors : 8;
    std::int64_t m = 0;
    for (; m + rows <= M; m += rows) tile<rows, Vectors>(m, n, N, P, a, b_PN, c_MN);
    for (; m < M; ++m) tile<1, Vectors>(m, n, N, P, a, b_PN, c_MN);
}

BERTPRETRAIN_BF16 void matmul_by_vectors(std::int64_t M, std::int64_t N, std::int64_t P, const PairedRows& a, const Pair* b_PN,
                                         float* c_MN) {
    std::int64_t n = 0;
    for (; n + 4 * pair_lanes <= N; n += 4 * pair_lanes) panel<4>(M, n, N, P, a, b_PN, c_MN);
    for (; n + 2 * pair_lanes <= N; n += 2 * pair_lanes) panel<2>(M, n, N, P, a, b_PN, c_MN);
    for (; n < N; n += pair_lanes) panel<1>(M, n, N, P, a, b_PN, c_MN);
}

}  // namespace

void bf16_small_matmul(std::int64_t M, std::int64_t N, std::int64_t P, const PairedRows& a, const Pair* b_PN, float* c_MN) {
    const bool rows_fill_tiles = a.pair_step == 1 || a.pair_step >= rounded_up(M, tile_lanes);
    if (has_amx() && P % tile_lanes == 0 && rows_fill_tiles) amx_small_matmul(M, N, P, a, b_PN, c_MN);
    else matmul_by_vectors(M, N, P, a, b_PN, c_MN);
}

}  // namespace bertpretrain::cpu

#else

namespace bertpretrain::cpu {

// Unreachable: has_bf16_matmul() is false.
void bf16_small_matmul(std::int64_t, std::int64_t, std::int64_t, const PairedRows&, const Pair*, float*) { std::abort(); }

}  // namespace bertpretrain::cpu

#endif
