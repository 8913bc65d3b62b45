#pragma once
// The layout of a row within a block: a warp holds 256 columns, and each thread eight of them, as two quads 128 columns apart.
// So every access of a warp to fp32 (16 bytes per thread) or bf16 (8 bytes) is one contiguous range, and dropout's sixteen
// Philox calls per 128 elements map to sixteen lanes (dropout_factors.h).

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

constexpr unsigned all_lanes = 0xFFFFFFFF;

__device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x % warp_lanes); }
__device__ __forceinline__ int warp() { return static_cast<int>(threadIdx.x / warp_lanes); }
__device__ __forceinline__ int block_warps() { return static_cast<int>(blockDim.x / warp_lanes); }

/// Waits until the kernel before this one in the stream has ended and all see its results: launch() may start this one earlier.
/// The first statement of every kernel.
__device__ __forceinline__ void wait_for_kernel_before() {
#ifndef __CUDACC__
    cuda_emulator::wait_for_kernel_before();
#elif __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" : : : "memory");
#endif
}

/// Returns the block's dynamic shared memory (launch_with_shared), aligned to 16 bytes.
__device__ __forceinline__ void* dynamic_shared_memory() {
#ifdef __CUDACC__
    extern __shared__ uint4 dynamic_shared[];
    return dynamic_shared;
#else
    return cuda_emulator::dynamic_shared_memory();
#endif
}

__device__ __forceinline__ float to_float(float value) { return value; }
__device__ __forceinline__ float to_float(Bf16 value) { return __uint_as_float(static_cast<unsigned>(value.bits) << 16); }

/// Rounds to nearest even. NaN is handled separately: the GPU's own NaN has all bits set, and rounding would carry it to -0.
__device__ __forceinline__ unsigned bf16_bits(float value) {
    const unsigned bits = __float_as_uint(value);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return 0x7FC0U;
    return (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
}
__device__ __forceinline__ void store(float* at, float value) { *at = value; }
__device__ __forceinline__ void store(Bf16* at, float value) { at->bits = static_cast<std::uint16_t>(bf16_bits(value)); }

#ifdef __CUDACC__

/// Rounds two floats to bf16 (nearest even); the first is in the lower half.
__device__ __forceinline__ unsigned bf16_pair(float low, float high) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

/// 2^x, relative error below 2^-22; results below 2^-126 are zero.
__device__ __forceinline__ float exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/// Returns a mask of two half-words: all ones where bit 15 or bit 31 of `bits` is set, else zeros.
__device__ __forceinline__ unsigned half_word_masks(unsigned bits) {
    unsigned masks;
    asm("prmt.b32 %0, %1, %1, 0xBB99;" : "=r"(masks) : "r"(bits));  // replicates the sign bits of bytes 1 and 3
    return masks;
}

#else

__device__ inline unsigned half_word_masks(unsigned bits) { return (bits >> 31) * 0xFFFF0000U | (bits >> 15 & 1U) * 0xFFFFU; }
__device__ inline unsigned bf16_pair(float low, float high) { return bf16_bits(low) | bf16_bits(high) << 16; }
__device__ inline float exp2_fast(float x) { return std::exp2(x); }

#endif

/// Rounds two floats to the nearest bf16 numbers.
__device__ __forceinline__ void round_pair(float& low, float& high) {
    const unsigned pair = bf16_pair(low, high);
    low = __uint_as_float(pair << 16), high = __uint_as_float(pair & 0xFFFF0000U);
}

constexpr float log2_of_e = 1.44269504F;

/// Four adjacent elements in one access; `at` must be aligned to the size of the access.
__device__ __forceinline__ void load_quad(const float* at, float* values) {
    const float4 quad = *reinterpret_cast<const float4*>(at);
    values[0] = quad.x, values[1] = quad.y, values[2] = quad.z, values[3] = quad.w;
}
__device__ __forceinline__ void load_quad(const Bf16* at, float* values) {
    const uint2 quad = *reinterpret_cast<const uint2*>(at);
    values[0] = __uint_as_float(quad.x << 16), values[1] = __uint_as_float(quad.x & 0xFFFF0000U);
    values[2] = __uint_as_float(quad.y << 16), values[3] = __uint_as_float(quad.y & 0xFFFF0000U);
}
__device__ __forceinline__ void store_quad(float* at, const float* values) {
    *reinterpret_cast<float4*>(at) = {values[0], values[1], values[2], values[3]};
}
__device__ __forceinline__ void store_quad(Bf16* at, const float* values) {
    *reinterpret_cast<uint2*>(at) = {bf16_pair(values[0], values[1]), bf16_pair(values[2], values[3])};
}

/// A thread's elements of a row.
struct Eight {
    float at[8];
    __device__ float& operator[](int i) { return at[i]; }
    __device__ float operator[](int i) const { return at[i]; }
};

/// Returns the column of a thread's element i, in a warp whose columns begin at `first`.
__device__ __forceinline__ std::int64_t column_of(int i, std::int64_t first) {
    return first + 128 * (i / 4) + 4 * lane() + i % 4;
}

/// Loads a thread's elements of a row; zeros after the row's end.
/// @tparam quads  whether all rows are aligned and consist of whole quads
template <bool quads, class T>
__device__ __forceinline__ Eight load_eight(const T* row, std::int64_t first, std::int64_t width) {
    Eight values{};
#pragma unroll
    for (int i = 0; i < 8; i += quads ? 4 : 1)
        if (column_of(i, first) < width) {
            if constexpr (quads) load_quad(row + column_of(i, first), values.at + i);
            else values[i] = to_float(row[column_of(i, first)]);
        }
    return values;
}

template <bool quads, class T>
__device__ __forceinline__ void store_eight(T* row, std::int64_t first, std::int64_t width, const Eight& values) {
#pragma unroll
    for (int i = 0; i < 8; i += quads ? 4 : 1)
        if (column_of(i, first) < width) {
            if constexpr (quads) store_quad(row + column_of(i, first), values.at + i);
            else store(row + column_of(i, first), values[i]);
        }
}

/// A thread's elements of a row as loaded: bf16 is converted only when used, so that no instruction waits for the load before.
template <bool quads, class T>
struct Loaded {
    Eight eight{};
    __device__ __forceinline__ void load(const T* row, std::int64_t first, std::int64_t width) {
        eight = load_eight<quads>(row, first, width);
    }
    __device__ __forceinline__ Eight values() const { return eight; }
};
template <>
struct Loaded<true, Bf16> {
    uint2 quad[2]{};
    __device__ __forceinline__ void load(const Bf16* row, std::int64_t first, std::int64_t width) {
#pragma unroll
        for (int q = 0; q < 2; ++q)
            if (column_of(4 * q, first) < width) quad[q] = *reinterpret_cast<const uint2*>(row + column_of(4 * q, first));
    }
    __device__ __forceinline__ Eight values() const {
        Eight eight;
#pragma unroll
        for (int q = 0; q < 2; ++q) {
            eight[4 * q] = __uint_as_float(quad[q].x << 16), eight[4 * q + 1] = __uint_as_float(quad[q].x & 0xFFFF0000U);
            eight[4 * q + 2] = __uint_as_float(quad[q].y << 16), eight[4 * q + 3] = __uint_as_float(quad[q].y & 0xFFFF0000U);
        }
        return eight;
    }
};

}  // namespace bertpretrain::cuda
