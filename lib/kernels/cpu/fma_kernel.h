#pragma once
// Multiplies panels (fma_packing.h) with AVX2's fused multiply-add. Only for files compiled for x86-64.

#include <algorithm>

#include "kernels/cpu/fma_packing.h"
#include "kernels/cpu/fma_vectors.h"

namespace bertpretrain::cpu {

/// Elements of C that are computed at a time: fma_rows rows of fma_columns.
constexpr std::int64_t fma_tile_elements = fma_rows * fma_columns;

/// Multiplies a panel of A by a panel of B, `depth` deep.
/// @param before sums to continue, or null: zeros @param sums receives the new sums; may be `before`. Both are aligned to 32
/// bytes.
BERTPRETRAIN_FMA_INLINE void multiply_panels(const float* a, const float* b, std::int64_t depth, const float* before,
                                             float* sums) {
    __m256 c[fma_rows][2];
    for (int i = 0; i < fma_rows; ++i)
        for (int half = 0; half < 2; ++half)
            c[i][half] = before != nullptr ? _mm256_load_ps(before + fma_columns * i + 8 * half) : _mm256_setzero_ps();
#pragma GCC unroll 4
    for (std::int64_t k = 0; k < depth; ++k, a += fma_rows, b += fma_columns) {
        const __m256 left = _mm256_loadu_ps(b), right = _mm256_loadu_ps(b + 8);
#pragma GCC unroll 6
        for (int i = 0; i < fma_rows; ++i) {
            const __m256 row = _mm256_broadcast_ss(a + i);
            c[i][0] = _mm256_fmadd_ps(row, left, c[i][0]);
            c[i][1] = _mm256_fmadd_ps(row, right, c[i][1]);
        }
    }
    for (int i = 0; i < fma_rows; ++i)
        for (int half = 0; half < 2; ++half) _mm256_store_ps(sums + fma_columns * i + 8 * half, c[i][half]);
}

/// Writes finished sums to rows of C, which are `stride` apart: those of a tile that begins at `to` and has this many rows and
/// columns in C.
/// @param add whether to add to what is there; Out is float then
template <class Out>
BERTPRETRAIN_FMA_INLINE void write_tile(const float* sums, Out* to, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                                        bool add) {
    for (std::int64_t i = 0; i < std::min(rows, fma_rows); ++i, sums += fma_columns, to += stride)
        if (columns >= fma_columns)
            for (int half = 0; half < 2; ++half) {
                const __m256 values = _mm256_load_ps(sums + 8 * half);
                store_eight(to + 8 * half, add ? _mm256_add_ps(values, load_eight(to + 8 * half)) : values);
            }
        else
            for (std::int64_t j = 0; j < columns; ++j) store(to + j, add ? sums[j] + load(to + j) : sums[j]);
}

}  // namespace bertpretrain::cpu
