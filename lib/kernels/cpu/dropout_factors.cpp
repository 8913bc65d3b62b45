#include "kernels/cpu/dropout_factors.h"

#include "kernels/cpu/vector_math.h"

#if defined(__x86_64__)
// GCC 12 warns about the deliberately undefined operands in its own intrinsics header (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#endif

namespace bertpretrain::cpu {
namespace {

#if defined(__x86_64__)
#define BERTPRETRAIN_AVX512 __attribute__((target("avx512f")))

/// One word of eight Philox counters, in the lower half of each 64-bit lane. The upper halves are garbage: multiplications read
/// only the lower halves, and nothing else carries between halves. Compilers cannot know this, hence the intrinsics.
struct EightWords {
    __m512i lanes;
};

/// Not forced inline: the compiler refuses that in philox_round(), which is compiled for no instruction set in particular.
/// `flatten` in fill_by_avx512() inlines them there.
struct PhiloxEightWords {
    BERTPRETRAIN_AVX512 static void multiply(std::uint32_t factor, const EightWords& word, EightWords& upper, EightWords& lower) {
        lower.lanes = _mm512_mul_epu32(_mm512_set1_epi64(factor), word.lanes);
        upper.lanes = _mm512_srli_epi64(lower.lanes, 32);
    }
    BERTPRETRAIN_AVX512 static void combine(const EightWords& a, const EightWords& b, std::uint32_t key, EightWords& result) {
        result.lanes = _mm512_xor_si512(_mm512_xor_si512(a.lanes, b.lanes), _mm512_set1_epi64(key));
    }
};

BERTPRETRAIN_AVX512 __attribute__((flatten)) void fill_by_avx512(const Dropout& dropout, std::uint64_t sample,
                                                                 std::uint32_t position, std::uint32_t group_base,
                                                                 std::int64_t elements, float* keep) {
    const __m512i threshold = _mm512_set1_epi32(static_cast<int>(dropout.threshold())), low_half = _mm512_set1_epi32(0xFFFF);
    const __m512i even_words = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512 scale = _mm512_set1_ps(dropout.scale());
    const __m512i steps = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    for (std::int64_t e = 0; e < elements; e += dropout_block_elements) {
        EightWords eight[2][4];
        for (int half = 0; half < 2; ++half) {
            const std::uint32_t first_group =
                group_base + static_cast<std::uint32_t>(e / 8) + 8 * static_cast<std::uint32_t>(half);
            EightWords words[4] = {{_mm512_add_epi64(_mm512_set1_epi64(first_group), steps)},
                                   {_mm512_set1_epi64(position | dropout.site << 16)},
                                   {_mm512_set1_epi64(static_cast<std::uint32_t>(sample))},
                                   {_mm512_set1_epi64(static_cast<std::uint32_t>(sample >> 32))}};
            philox_words<PhiloxEightWords>(words, {dropout.key[0], dropout.key[1]});
            for (int w = 0; w < 4; ++w) eight[half][w] = words[w];
        }
        for (int w = 0; w < 4; ++w) {
            const __m512i words = _mm512_permutex2var_epi32(eight[0][w].lanes, even_words, eight[1][w].lanes);
            const __mmask16 low = _mm512_cmpge_epu32_mask(_mm512_and_si512(words, low_half), threshold);
            const __mmask16 high = _mm512_cmpge_epu32_mask(_mm512_srli_epi32(words, 16), threshold);
            _mm512_storeu_ps(keep + e + 32 * w, _mm512_maskz_mov_ps(low, scale));
            _mm512_storeu_ps(keep + e + 32 * w + 16, _mm512_maskz_mov_ps(high, scale));
        }
    }
}
#endif

}  // namespace

void fill_dropout_factors(const Dropout& dropout, std::uint64_t sample, std::uint32_t position, std::uint32_t group_base,
                          std::int64_t elements, float* keep) {
#if defined(__x86_64__)
    if (instruction_set() >= InstructionSet::avx512) return fill_by_avx512(dropout, sample, position, group_base, elements, keep);
#endif
    by_instruction_set<&dropout_factors>(dropout, sample, position, group_base, elements, keep);
}

}  // namespace bertpretrain::cpu
