#pragma once
// Rounding to fp8, to nearest even and at most to the type's largest number, and 4 x 4 transposes of bytes. Where the GPU has
// instructions for it (compute capability 8.9), they are used.

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

/// Returns the byte of x in F, E4m3 or E5m2; NaN becomes 0x7F.
template <class F>
__device__ __forceinline__ unsigned fp8_bits(float x) {
    const unsigned bits = __float_as_uint(x), sign = bits >> 24 & 0x80U, magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) return 0x7FU;
    const float limited = __uint_as_float(magnitude) < F::largest ? __uint_as_float(magnitude) : F::largest;
    constexpr int dropped = 23 - F::fraction, exponent_offset = 127 - F::bias;
    // Below the smallest normal number, adding `magic` rounds to a multiple of the smallest number, and leaves it in the last
    // bits.
    constexpr unsigned smallest_normal = static_cast<unsigned>(exponent_offset + 1) << 23,
                       magic = static_cast<unsigned>(exponent_offset + 1 - F::fraction + 23) << 23;
    const unsigned kept = __float_as_uint(limited);
    if (kept < smallest_normal) return sign | (__float_as_uint(limited + __uint_as_float(magic)) - magic);
    const unsigned rounded = kept + (1U << (dropped - 1)) - 1 + (kept >> dropped & 1U);
    return sign | (rounded - (static_cast<unsigned>(exponent_offset) << 23)) >> dropped;
}

/// Returns the bytes of four numbers, the first in the lowest.
template <class F>
__device__ __forceinline__ unsigned fp8_quad(const float (&x)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    unsigned short low, high;
    if constexpr (F::fraction == 3) {
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(low) : "f"(x[1]), "f"(x[0]));
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(high) : "f"(x[3]), "f"(x[2]));
    } else {
        asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(low) : "f"(x[1]), "f"(x[0]));
        asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(high) : "f"(x[3]), "f"(x[2]));
    }
    return static_cast<unsigned>(low) | static_cast<unsigned>(high) << 16;
#else
    return fp8_bits<F>(x[0]) | fp8_bits<F>(x[1]) << 8 | fp8_bits<F>(x[2]) << 16 | fp8_bits<F>(x[3]) << 24;
#endif
}

/// Returns the bytes that `selector` names, as PTX's prmt: digits 0 to 3 are bytes of a, 4 to 7 those of b.
__device__ __forceinline__ unsigned pick_bytes(unsigned a, unsigned b, unsigned selector) {
#ifdef __CUDACC__
    return __byte_perm(a, b, selector);
#else
    unsigned picked = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned from = selector >> 4 * i & 7U;
        picked |= ((from < 4 ? a >> 8 * from : b >> 8 * (from - 4)) & 0xFFU) << 8 * i;
    }
    return picked;
#endif
}

/// Transposes four rows of four bytes.
__device__ __forceinline__ void transpose_bytes(unsigned (&rows)[4]) {
    const unsigned first_low = pick_bytes(rows[0], rows[1], 0x5140), first_high = pick_bytes(rows[0], rows[1], 0x7362),
                   last_low = pick_bytes(rows[2], rows[3], 0x5140), last_high = pick_bytes(rows[2], rows[3], 0x7362);
    rows[0] = pick_bytes(first_low, last_low, 0x5410), rows[1] = pick_bytes(first_low, last_low, 0x7632);
    rows[2] = pick_bytes(first_high, last_high, 0x5410), rows[3] = pick_bytes(first_high, last_high, 0x7632);
}

}  // namespace bertpretrain::cuda
