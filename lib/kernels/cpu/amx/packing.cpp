#include "kernels/cpu/amx/packing.h"

#include <algorithm>
#include <cstdlib>

#if defined(__x86_64__)
// GCC 12 warns about the deliberately undefined operands in its own intrinsics header (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include "kernels/cpu/word_blocks.h"

namespace bertpretrain::cpu {
namespace {

/// Loads rows x..x + 15 of the 16 pairs that begin at k.
BERTPRETRAIN_WORDS_INLINE void pairs_along_rows(const AmxOperand& from, std::int64_t x, std::int64_t k, __m512i (&words)[16]) {
    const __mmask32 there = first_lanes(from.K - k);
    for (std::int64_t i = 0; i < 16; ++i)
        words[i] = x + i < from.X ? _mm512_maskz_loadu_epi16(there, from.at + (x + i) * from.stride + k) : _mm512_setzero_si512();
}

BERTPRETRAIN_WORDS_INLINE __m512i lower_halves(const AmxOperand& from, std::int64_t x, std::int64_t k, __mmask16 there) {
    if (k >= from.K) return _mm512_setzero_si512();
    return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, from.at + k * from.stride + x));
}

/// Loads pairs k, k + 2, ..., k + 30 of columns x..x + 15, one row per pair.
BERTPRETRAIN_WORDS_INLINE void pairs_across_rows(const AmxOperand& from, std::int64_t x, std::int64_t k, __m512i (&words)[16]) {
    const auto there = static_cast<__mmask16>(first_lanes(std::min<std::int64_t>(from.X - x, 16)));
    for (std::int64_t i = 0; i < 16; ++i)
        words[i] = _mm512_or_si512(lower_halves(from, x, k + 2 * i, there),
                                   _mm512_slli_epi32(lower_halves(from, x, k + 2 * i + 1, there), 16));
}

BERTPRETRAIN_WORDS_INLINE void pack_tile(const AmxOperand& operand, std::int64_t x, std::int64_t k, Bf16* to) {
    __m512i words[16];
    if (operand.K_is_contiguous) pairs_along_rows(operand, x, k, words);
    else pairs_across_rows(operand, x, k, words);
    if (operand.K_is_contiguous == (operand.side == AmxOperand::Side::right)) transpose(words);
    for (std::int64_t i = 0; i < 16; ++i) _mm512_store_si512(to + i * tile_depth, words[i]);
}

/// Packs both tiles of a panel's k-th tile pair.
BERTPRETRAIN_WORDS_INLINE void pack_pair(const AmxOperand& operand, std::int64_t panel, std::int64_t k, Bf16* to) {
    pack_tile(operand, panel * panel_rows, k * tile_depth, to);
    pack_tile(operand, panel * panel_rows + 16, k * tile_depth, to + tile_elements);
}

}  // namespace

BERTPRETRAIN_WORDS void pack_panels(const AmxOperand& operand, std::int64_t begin, std::int64_t end, Bf16* to) {
    const Parts depth = operand.depth();
    // Reads 32 rows of memory in parallel up to their ends: as many streams as the hardware prefetcher follows.
    if (operand.K_is_contiguous)
        for (std::int64_t panel = begin; panel < end; ++panel)
            for (std::int64_t part = 0; part < depth.parts; ++part) {
                Bf16* at = to + operand.offset(panel, part);
                for (std::int64_t k = depth.first(part); k < depth.first(part + 1); ++k, at += pair_elements)
                    pack_pair(operand, panel, k, at);
            }
    else
        for (std::int64_t part = 0; part < depth.parts; ++part)
            for (std::int64_t k = 0; k < depth.count(part); ++k) {
                Bf16* at = to + operand.offset(begin, part) + k * pair_elements;
                for (std::int64_t panel = begin; panel < end; ++panel, at += depth.count(part) * pair_elements)
                    pack_pair(operand, panel, depth.first(part) + k, at);
            }
}

}  // namespace bertpretrain::cpu

#else

namespace bertpretrain::cpu {

void pack_panels(const AmxOperand&, std::int64_t, std::int64_t, Bf16*) { std::abort(); }  // unreachable: has_amx() is false

}  // namespace bertpretrain::cpu

#endif
