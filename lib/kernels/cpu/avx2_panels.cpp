// Packs panels with AVX2, and multiplies them with its fused multiply-add: 6 x 16 elements of C at a time, in 12 registers. bf16
// numbers are widened to fp32 when they are packed.
#include "kernels/cpu/panel_kernel.h"

#if defined(__x86_64__)
#include <algorithm>

#include <immintrin.h>

#define BERTPRETRAIN_FMA __attribute__((target("avx2,fma")))
#define BERTPRETRAIN_FMA_INLINE BERTPRETRAIN_FMA static inline __attribute__((always_inline))

namespace bertpretrain::cpu {
namespace {

constexpr std::int64_t avx2_rows = 6, avx2_columns = 16;

BERTPRETRAIN_FMA_INLINE __m256 load_eight(const float* at) { return _mm256_loadu_ps(at); }
BERTPRETRAIN_FMA_INLINE __m256 load_eight(const Bf16* at) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

BERTPRETRAIN_FMA_INLINE void store_eight(float* at, __m256 values) { _mm256_storeu_ps(at, values); }
/// Rounds to nearest even, as store() does.
BERTPRETRAIN_FMA_INLINE void store_eight(Bf16* at, __m256 values) {
    const __m256i bits = _mm256_castps_si256(values);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF))), 16);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(rounded, rounded), 0xD8);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm256_castsi256_si128(packed));
}

/// Transposes 8 x 8 words in steps: 2 x 2 words and 2 x 2 pairs within halves of vectors, then the halves.
BERTPRETRAIN_FMA_INLINE void transpose(__m256 (&a)[8]) {
    __m256 b[8];
    for (int i = 0; i < 8; i += 2) {
        b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int half = 0; half < 2; ++half) {
            a[i + 2 * half] = _mm256_shuffle_ps(b[i + half], b[i + 2 + half], 0x44);
            a[i + 2 * half + 1] = _mm256_shuffle_ps(b[i + half], b[i + 2 + half], 0xEE);
        }
    for (int i = 0; i < 4; ++i) {
        b[i] = _mm256_permute2f128_ps(a[i], a[4 + i], 0x20);
        b[4 + i] = _mm256_permute2f128_ps(a[i], a[4 + i], 0x31);
    }
    for (int i = 0; i < 8; ++i) a[i] = b[i];
}

/// Stores the first `width` lanes: 6 or 8.
BERTPRETRAIN_FMA_INLINE void store_lanes(float* at, __m256 lanes, std::int64_t width) {
    if (width == 8) return _mm256_storeu_ps(at, lanes);
    _mm_storeu_ps(at, _mm256_castps256_ps128(lanes));
    _mm_storel_pi(reinterpret_cast<__m64*>(at + 4), _mm256_extractf128_ps(lanes, 1));
}

/// Packs rows x..x + rows of a matrix whose K is contiguous, for `depth` numbers from k on. @param to has `stride` per k
BERTPRETRAIN_FMA_INLINE void pack_rows(const PanelOperand& from, std::int64_t x, std::int64_t rows, std::int64_t k,
                                       std::int64_t depth, float* to, std::int64_t stride) {
    const std::int64_t there = std::clamp<std::int64_t>(from.X - x, 0, rows);
    const Bf16* const at = from.at + x * from.stride + k;
    std::int64_t i = 0;
    if (there == rows)
        for (; i + 8 <= depth; i += 8) {
            __m256 lanes[8];
            for (std::int64_t row = 0; row < 8; ++row)
                lanes[row] = row < rows ? load_eight(at + row * from.stride + i) : _mm256_setzero_ps();
            transpose(lanes);
            for (std::int64_t j = 0; j < 8; ++j) store_lanes(to + (i + j) * stride, lanes[j], rows);
        }
    for (; i < depth; ++i)
        for (std::int64_t row = 0; row < rows; ++row) to[i * stride + row] = row < there ? load(at + row * from.stride + i) : 0;
}

/// Packs numbers x..x + width, which are contiguous, of one k.
template <std::int64_t width>
BERTPRETRAIN_FMA_INLINE void pack_one_k(const Bf16* at, std::int64_t x, std::int64_t X, float* to) {
    if (x + avx2_columns > X) {
        for (std::int64_t j = 0; j < width; ++j) to[j] = x + j < X ? load(at + j) : 0;
    } else if (width == avx2_columns) {
        _mm256_storeu_ps(to, load_eight(at));
        _mm256_storeu_ps(to + 8, load_eight(at + 8));
    } else {
        store_lanes(to, load_eight(at), width);
    }
}

/// Packs panels of a matrix whose X is contiguous. All of a k's numbers are read together, because rows of memory that are a
/// power of two apart replace each other in the caches.
template <std::int64_t width>
BERTPRETRAIN_FMA_INLINE void pack_across_rows(const PanelOperand& from, Range panels, std::int64_t part, float* to) {
    const std::int64_t first = from.depth().first(part), count = from.depth().count(part);
    for (std::int64_t k = 0; k < count; ++k) {
        float* at = to + from.offset(panels.begin, part) + k * width;
        for (std::int64_t x = panels.begin * width; x < panels.end * width; x += width, at += count * width)
            pack_one_k<width>(from.at + (first + k) * from.stride + x, x, from.X, at);
    }
}

/// Packs panels of a matrix whose K is contiguous.
BERTPRETRAIN_FMA_INLINE void pack_along_rows(const PanelOperand& from, Range panels, std::int64_t part, float* to) {
    const std::int64_t first = from.depth().first(part), count = from.depth().count(part), width = from.width;
    for (std::int64_t panel = panels.begin; panel < panels.end; ++panel) {
        const std::int64_t x = panel * width;
        float* const at = to + from.offset(panel, part);
        if (width == avx2_rows) {
            pack_rows(from, x, avx2_rows, first, count, at, avx2_rows);
        } else {
            pack_rows(from, x, 8, first, count, at, avx2_columns);
            pack_rows(from, x + 8, 8, first, count, at + 8, avx2_columns);
        }
    }
}

BERTPRETRAIN_FMA void avx2_pack(const PanelOperand& operand, Range panels, std::int64_t part, PanelWord* words) {
    auto* const to = reinterpret_cast<float*>(words);
    if (operand.K_is_contiguous) pack_along_rows(operand, panels, part, to);
    else if (operand.width == avx2_rows) pack_across_rows<avx2_rows>(operand, panels, part, to);
    else pack_across_rows<avx2_columns>(operand, panels, part, to);
}

BERTPRETRAIN_FMA void avx2_multiply(const PanelWord* a_words, const PanelWord* b_words, std::int64_t depth, const float* before,
                                    float* sums) {
    const auto *a = reinterpret_cast<const float*>(a_words), *b = reinterpret_cast<const float*>(b_words);
    __m256 c[avx2_rows][2];  // in registers only where all loops over it are unrolled
#pragma GCC unroll 6
    for (int i = 0; i < avx2_rows; ++i)
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half)
            c[i][half] = before != nullptr ? _mm256_load_ps(before + avx2_columns * i + 8 * half) : _mm256_setzero_ps();
#pragma GCC unroll 4
    for (std::int64_t k = 0; k < depth; ++k, a += avx2_rows, b += avx2_columns) {
        const __m256 left = _mm256_loadu_ps(b), right = _mm256_loadu_ps(b + 8);
#pragma GCC unroll 6
        for (int i = 0; i < avx2_rows; ++i) {
            const __m256 row = _mm256_broadcast_ss(a + i);
            c[i][0] = _mm256_fmadd_ps(row, left, c[i][0]);
            c[i][1] = _mm256_fmadd_ps(row, right, c[i][1]);
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < avx2_rows; ++i)
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) _mm256_store_ps(sums + avx2_columns * i + 8 * half, c[i][half]);
}

template <class Out>
BERTPRETRAIN_FMA_INLINE void avx2_write_tile(const float* sums, Out* to, std::int64_t stride, std::int64_t rows,
                                             std::int64_t columns, bool add) {
    for (std::int64_t i = 0; i < std::min(rows, avx2_rows); ++i, sums += avx2_columns, to += stride)
        if (columns >= avx2_columns)
            for (int half = 0; half < 2; ++half) {
                const __m256 values = _mm256_load_ps(sums + 8 * half);
                store_eight(to + 8 * half, add ? _mm256_add_ps(values, load_eight(to + 8 * half)) : values);
            }
        else
            for (std::int64_t j = 0; j < columns; ++j) store(to + j, add ? sums[j] + load(to + j) : sums[j]);
}

BERTPRETRAIN_FMA void avx2_write(const float* sums, float* to, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                                 bool add) {
    avx2_write_tile(sums, to, stride, rows, columns, add);
}

BERTPRETRAIN_FMA void avx2_write_rounded(const float* sums, Bf16* to, std::int64_t stride, std::int64_t rows,
                                         std::int64_t columns) {
    avx2_write_tile(sums, to, stride, rows, columns, false);
}

}  // namespace

const PanelKernel avx2_panels{avx2_rows, avx2_columns, 1, avx2_pack, avx2_multiply, nullptr, avx2_write, avx2_write_rounded};

}  // namespace bertpretrain::cpu

#endif
