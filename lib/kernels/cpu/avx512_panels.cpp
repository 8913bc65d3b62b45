// Packs panels with AVX-512 and multiplies them, 12 x 32 elements of C at a time, in 24 registers: pairs of bf16 with their own
// instruction, or else bf16 numbers widened to fp32.
#include "kernels/cpu/panel_kernel.h"

#if defined(__x86_64__)
// GCC 12 warns about the deliberately undefined operands in its own intrinsics header (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <algorithm>

#include "kernels/cpu/word_blocks.h"

namespace bertpretrain::cpu {
namespace {

constexpr std::int64_t avx512_rows = 12, avx512_columns = 32, word_lanes = 16;

BERTPRETRAIN_WORDS_INLINE __mmask16 first_words(std::int64_t count) {
    return static_cast<__mmask16>(first_lanes(std::min(count, word_lanes)));
}

BERTPRETRAIN_WORDS_INLINE __m512i widened_halves(const Bf16* at, __mmask16 there) {
    return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, at));
}

/// Loads 16 words of a row whose K is contiguous. @param numbers that are left in the row; those beyond are zeros
template <bool pairs>
BERTPRETRAIN_WORDS_INLINE __m512i words_along_row(const Bf16* at, std::int64_t numbers) {
    if constexpr (pairs) return _mm512_maskz_loadu_epi16(first_lanes(numbers), at);
    else return _mm512_slli_epi32(widened_halves(at, first_words(numbers)), 16);
}

/// Loads the k-th word of up to 16 rows, whose numbers are contiguous. @param there  those in the matrix
template <bool pairs>
BERTPRETRAIN_WORDS_INLINE __m512i words_across_rows(const PanelOperand& from, std::int64_t x, std::int64_t k, __mmask16 there) {
    const Bf16* const at = from.at + x;
    if constexpr (!pairs) return _mm512_slli_epi32(widened_halves(at + k * from.stride, there), 16);
    const __m512i first = widened_halves(at + 2 * k * from.stride, there);
    if (2 * k + 1 >= from.K) return first;
    return _mm512_or_si512(first, _mm512_slli_epi32(widened_halves(at + (2 * k + 1) * from.stride, there), 16));
}

/// Stores the first `width` words: 12 or 16.
BERTPRETRAIN_WORDS_INLINE void store_words(PanelWord* at, __m512i words, std::int64_t width) {
    if (width == word_lanes) return _mm512_storeu_si512(at, words);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), _mm512_castsi512_si256(words));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at + 8), _mm512_extracti32x4_epi32(words, 2));
}

/// Packs up to 16 rows from x on, for `depth` words from the k-th on. @param to has `stride` words per k
template <bool pairs>
BERTPRETRAIN_WORDS_INLINE void pack_block(const PanelOperand& from, std::int64_t x, std::int64_t rows, std::int64_t k,
                                          std::int64_t depth, PanelWord* to, std::int64_t stride) {
    const std::int64_t there = std::clamp<std::int64_t>(from.X - x, 0, rows);
    for (std::int64_t i = 0; i < depth; i += word_lanes) {
        const std::int64_t number = (k + i) * from.k_per_word;
        __m512i words[word_lanes];
        for (std::int64_t row = 0; row < word_lanes; ++row)
            words[row] = row < there ? words_along_row<pairs>(from.at + (x + row) * from.stride + number, from.K - number)
                                     : _mm512_setzero_si512();
        transpose(words);
        for (std::int64_t j = 0; j < std::min(word_lanes, depth - i); ++j) store_words(to + (i + j) * stride, words[j], rows);
    }
}

/// Packs one part of panels of a matrix whose K is contiguous.
template <bool pairs>
BERTPRETRAIN_WORDS_INLINE void pack_along_rows(const PanelOperand& from, Range panels, std::int64_t part, PanelWord* to) {
    const std::int64_t first = from.depth().first(part), count = from.depth().count(part), width = from.width;
    for (std::int64_t panel = panels.begin; panel < panels.end; ++panel)
        for (std::int64_t x = 0; x < width; x += word_lanes)
            pack_block<pairs>(from, panel * width + x, std::min(word_lanes, width), first, count,
                              to + from.offset(panel, part) + x, width);
}

/// The same where X is contiguous. All of a word's numbers are read together, because rows of memory that are a power of two
/// apart replace each other in the caches.
template <bool pairs>
BERTPRETRAIN_WORDS_INLINE void pack_across_rows(const PanelOperand& from, Range panels, std::int64_t part, PanelWord* to) {
    const std::int64_t first = from.depth().first(part), count = from.depth().count(part), width = from.width;
    for (std::int64_t k = 0; k < count; ++k) {
        PanelWord* at = to + from.offset(panels.begin, part) + k * width;
        for (std::int64_t panel = panels.begin; panel < panels.end; ++panel, at += count * width)
            for (std::int64_t x = 0; x < width; x += word_lanes)
                store_words(at + x,
                            words_across_rows<pairs>(from, panel * width + x, first + k, first_words(from.X - panel * width - x)),
                            std::min(word_lanes, width));
    }
}

template <bool pairs>
BERTPRETRAIN_WORDS void avx512_pack(const PanelOperand& operand, Range panels, std::int64_t part, PanelWord* to) {
    if (operand.K_is_contiguous) pack_along_rows<pairs>(operand, panels, part, to);
    else pack_across_rows<pairs>(operand, panels, part, to);
}

/// The sums of a tile of C, in registers.
struct Avx512Sums {
    __m512 c[avx512_rows][2];

    BERTPRETRAIN_WORDS __attribute__((always_inline)) explicit Avx512Sums(const float* before) {
#pragma GCC unroll 12
        for (int i = 0; i < avx512_rows; ++i)
#pragma GCC unroll 2
            for (int half = 0; half < 2; ++half)
                c[i][half] = before != nullptr ? _mm512_load_ps(before + avx512_columns * i + 16 * half) : _mm512_setzero_ps();
    }
    BERTPRETRAIN_WORDS __attribute__((always_inline)) void store(float* sums) const {
#pragma GCC unroll 12
        for (int i = 0; i < avx512_rows; ++i)
#pragma GCC unroll 2
            for (int half = 0; half < 2; ++half) _mm512_store_ps(sums + avx512_columns * i + 16 * half, c[i][half]);
    }
    /// Adds the products of a word of row i, a pair, and two vectors of pairs.
    BERTPRETRAIN_BF16 __attribute__((always_inline)) void add_pairs(int i, PanelWord word, __m512i left, __m512i right) {
        const auto row = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(word)));
        c[i][0] = _mm512_dpbf16_ps(c[i][0], row, reinterpret_cast<__m512bh>(left));
        c[i][1] = _mm512_dpbf16_ps(c[i][1], row, reinterpret_cast<__m512bh>(right));
    }
};

BERTPRETRAIN_WORDS void multiply_numbers(const PanelWord* a, const PanelWord* b, std::int64_t depth, const float* before,
                                         float* sums) {
    Avx512Sums tile(before);
    for (std::int64_t k = 0; k < depth; ++k, a += avx512_rows, b += avx512_columns) {
        const __m512 left = _mm512_castsi512_ps(_mm512_loadu_si512(b)), right = _mm512_castsi512_ps(_mm512_loadu_si512(b + 16));
#pragma GCC unroll 12
        for (int i = 0; i < avx512_rows; ++i) {
            const __m512 row = _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(a[i])));
            tile.c[i][0] = _mm512_fmadd_ps(row, left, tile.c[i][0]);
            tile.c[i][1] = _mm512_fmadd_ps(row, right, tile.c[i][1]);
        }
    }
    tile.store(sums);
}

BERTPRETRAIN_BF16 void multiply_pairs(const PanelWord* a, const PanelWord* b, std::int64_t depth, const float* before,
                                      float* sums) {
    Avx512Sums tile(before);
    for (std::int64_t k = 0; k < depth; ++k, a += avx512_rows, b += avx512_columns) {
        const __m512i left = _mm512_loadu_si512(b), right = _mm512_loadu_si512(b + 16);
#pragma GCC unroll 12
        for (int i = 0; i < avx512_rows; ++i) tile.add_pairs(i, a[i], left, right);
    }
    tile.store(sums);
}

BERTPRETRAIN_BF16 void multiply_rows_of_pairs(const PanelWord* a, std::int64_t step, const PanelWord* b, std::int64_t depth,
                                              const float* before, float* sums) {
    Avx512Sums tile(before);
    // Four addresses, each for three rows: at most twice the step further on, which costs no instruction and few registers.
    const PanelWord *a_0 = a, *a_3 = a + 3 * step, *a_6 = a + 6 * step, *a_9 = a + 9 * step;
#pragma GCC unroll 2
    for (std::int64_t k = 0; k < depth; ++k, ++a_0, ++a_3, ++a_6, ++a_9, b += avx512_columns) {
        const __m512i left = _mm512_loadu_si512(b), right = _mm512_loadu_si512(b + 16);
#pragma GCC unroll 3
        for (int i = 0; i < 3; ++i) tile.add_pairs(i, a_0[i * step], left, right);
#pragma GCC unroll 3
        for (int i = 0; i < 3; ++i) tile.add_pairs(3 + i, a_3[i * step], left, right);
#pragma GCC unroll 3
        for (int i = 0; i < 3; ++i) tile.add_pairs(6 + i, a_6[i * step], left, right);
#pragma GCC unroll 3
        for (int i = 0; i < 3; ++i) tile.add_pairs(9 + i, a_9[i * step], left, right);
    }
    tile.store(sums);
}

BERTPRETRAIN_WORDS void avx512_write(const float* sums, float* to, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                                     bool add) {
    for (std::int64_t i = 0; i < std::min(rows, avx512_rows); ++i, sums += avx512_columns, to += stride)
        for (std::int64_t half = 0; half < avx512_columns; half += word_lanes) {
            const __mmask16 there = first_words(columns - half);
            const __m512 values = _mm512_load_ps(sums + half);
            _mm512_mask_storeu_ps(to + half, there,
                                  add ? _mm512_add_ps(values, _mm512_maskz_loadu_ps(there, to + half)) : values);
        }
}

/// Rounds to nearest even, as store() does.
BERTPRETRAIN_WORDS_INLINE __m256i rounded_to_bf16(__m512 values) {
    const __m512i bits = _mm512_castps_si512(values);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF))), 16));
}

BERTPRETRAIN_WORDS void avx512_write_rounded(const float* sums, Bf16* to, std::int64_t stride, std::int64_t rows,
                                             std::int64_t columns) {
    for (std::int64_t i = 0; i < std::min(rows, avx512_rows); ++i, sums += avx512_columns, to += stride)
        for (std::int64_t half = 0; half < avx512_columns; half += word_lanes)
            _mm256_mask_storeu_epi16(to + half, first_words(columns - half), rounded_to_bf16(_mm512_load_ps(sums + half)));
}

}  // namespace

const PanelKernel avx512_panels{avx512_rows,  avx512_columns,      1, avx512_pack<false>, multiply_numbers, nullptr,
                                avx512_write, avx512_write_rounded};
const PanelKernel avx512_bf16_panels{avx512_rows,       avx512_columns,      2,
                                     avx512_pack<true>, multiply_pairs,      multiply_rows_of_pairs,
                                     avx512_write,      avx512_write_rounded};

}  // namespace bertpretrain::cpu

#endif
