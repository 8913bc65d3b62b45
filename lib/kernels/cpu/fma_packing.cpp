#include "kernels/cpu/fma_packing.h"

#include <algorithm>

#if defined(__x86_64__)
#include "kernels/cpu/fma_vectors.h"

namespace bertpretrain::cpu {
namespace {

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
BERTPRETRAIN_FMA_INLINE void pack_rows(const FmaOperand& from, std::int64_t x, std::int64_t rows, std::int64_t k,
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
    if (x + fma_columns > X) {
        for (std::int64_t j = 0; j < width; ++j) to[j] = x + j < X ? load(at + j) : 0;
    } else if (width == fma_columns) {
        _mm256_storeu_ps(to, load_eight(at));
        _mm256_storeu_ps(to + 8, load_eight(at + 8));
    } else {
        store_lanes(to, load_eight(at), width);
    }
}

/// Packs panels of a matrix whose X is contiguous. All of a k's numbers are read together, because rows of memory that are a
/// power of two apart replace each other in the caches.
template <std::int64_t width>
BERTPRETRAIN_FMA_INLINE void pack_across_rows(const FmaOperand& from, std::int64_t begin, std::int64_t end, std::int64_t part,
                                              float* to) {
    const std::int64_t first = from.depth().first(part), count = from.depth().count(part);
    for (std::int64_t k = 0; k < count; ++k) {
        float* at = to + from.offset(begin, part) + k * width;
        for (std::int64_t x = begin * width; x < end * width; x += width, at += count * width)
            pack_one_k<width>(from.at + (first + k) * from.stride + x, x, from.X, at);
    }
}

/// Packs panels of a matrix whose K is contiguous.
BERTPRETRAIN_FMA_INLINE void pack_along_rows(const FmaOperand& from, std::int64_t begin, std::int64_t end, std::int64_t part,
                                             float* to) {
    const std::int64_t first = from.depth().first(part), count = from.depth().count(part), width = from.width;
    for (std::int64_t panel = begin; panel < end; ++panel) {
        const std::int64_t x = panel * width;
        float* const at = to + from.offset(panel, part);
        if (width == fma_rows) {
            pack_rows(from, x, fma_rows, first, count, at, fma_rows);
        } else {
            pack_rows(from, x, 8, first, count, at, fma_columns);
            pack_rows(from, x + 8, 8, first, count, at + 8, fma_columns);
        }
    }
}

}  // namespace

BERTPRETRAIN_FMA void pack_panels(const FmaOperand& operand, std::int64_t begin, std::int64_t end, float* to) {
    for (std::int64_t part = 0; part < operand.depth().parts; ++part)
        if (operand.K_is_contiguous) pack_along_rows(operand, begin, end, part, to);
        else if (operand.width == fma_rows) pack_across_rows<fma_rows>(operand, begin, end, part, to);
        else pack_across_rows<fma_columns>(operand, begin, end, part, to);
}

}  // namespace bertpretrain::cpu

#endif
