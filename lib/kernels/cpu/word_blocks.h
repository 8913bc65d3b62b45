#pragma once
// 16 x 16 blocks of 32-bit words in vector registers. Only for files compiled for x86-64.

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

#define BERTPRETRAIN_WORDS __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define BERTPRETRAIN_WORDS_INLINE BERTPRETRAIN_WORDS static inline __attribute__((always_inline))
/// With the instructions for pairs of bf16 too.
#define BERTPRETRAIN_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))
#define BERTPRETRAIN_BF16_INLINE BERTPRETRAIN_BF16 static inline __attribute__((always_inline))

namespace bertpretrain::cpu {

/// Returns a mask of the first `count` of 32 lanes; none for a negative count.
BERTPRETRAIN_WORDS_INLINE __mmask32 first_lanes(std::int64_t count) {
    return static_cast<__mmask32>((std::uint64_t{1} << std::clamp<std::int64_t>(count, 0, 32)) - 1);
}

/// Transposes `a` in steps: 2 x 2 words within quarters of vectors, then 2 x 2 pairs of words, then the quarters.
BERTPRETRAIN_WORDS_INLINE void transpose(__m512i (&a)[16]) {
    __m512i b[16];
    for (int i = 0; i < 16; i += 2) {
        b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
    }
    for (int i = 0; i < 16; i += 4)
        for (int half = 0; half < 2; ++half) {
            a[i + 2 * half] = _mm512_unpacklo_epi64(b[i + half], b[i + 2 + half]);
            a[i + 2 * half + 1] = _mm512_unpackhi_epi64(b[i + half], b[i + 2 + half]);
        }
    for (int i = 0; i < 4; ++i) {  // a[4 g + i]: rows 4 g..4 g + 3, columns i, i + 4, i + 8, i + 12
        const __m512i low_01 = _mm512_shuffle_i32x4(a[i], a[4 + i], 0x88), high_01 = _mm512_shuffle_i32x4(a[i], a[4 + i], 0xDD);
        const __m512i low_23 = _mm512_shuffle_i32x4(a[8 + i], a[12 + i], 0x88),
                      high_23 = _mm512_shuffle_i32x4(a[8 + i], a[12 + i], 0xDD);
        b[i] = _mm512_shuffle_i32x4(low_01, low_23, 0x88);
        b[8 + i] = _mm512_shuffle_i32x4(low_01, low_23, 0xDD);
        b[4 + i] = _mm512_shuffle_i32x4(high_01, high_23, 0x88);
        b[12 + i] = _mm512_shuffle_i32x4(high_01, high_23, 0xDD);
    }
    for (int i = 0; i < 16; ++i) a[i] = b[i];
}

}  // namespace bertpretrain::cpu
