#pragma once
// Loads and stores of eight numbers with AVX2. Only for files compiled for x86-64.

#include <immintrin.h>

#include "kernels/cpu/vector_math.h"

#define BERTPRETRAIN_FMA __attribute__((target("avx2,fma")))
#define BERTPRETRAIN_FMA_INLINE BERTPRETRAIN_FMA static inline __attribute__((always_inline))

namespace bertpretrain::cpu {

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

}  // namespace bertpretrain::cpu
