#pragma once
// How a row lies in the threads of a block: a warp holds 256 columns, a thread eight of them, as two quads that lie 128 apart.
// So every access of a warp to fp32 (16 bytes a thread) or bf16 (8 bytes) is one contiguous piece, and dropout's sixteen calls
// per 128 elements fall on sixteen lanes (dropout_factors.h).

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/arguments.h"

namespace bertpretrain::cuda {

constexpr unsigned all_lanes = 0xFFFFFFFF;

__device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x % warp_lanes); }
__device__ __forceinline__ int warp() { return static_cast<int>(threadIdx.x / warp_lanes); }
__device__ __forceinline__ int block_warps() { return static_cast<int>(blockDim.x / warp_lanes); }

/// The block's dynamic shared memory (launch_with_shared), aligned to 16 bytes.
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

/// Rounds to nearest even. A GPU's own NaN has all bits set and would be carried over into -0, hence the question.
__device__ __forceinline__ unsigned bf16_bits(float value) {
    const unsigned bits = __float_as_uint(value);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return 0x7FC0U;
    return (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
}
__device__ __forceinline__ void store(float* at, float value) { *at = value; }
__device__ __forceinline__ void store(Bf16* at, float value) { at->bits = static_cast<std::uint16_t>(bf16_bits(value)); }

/// Four neighbours in one access; `at` is aligned to as many bytes.
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
    *reinterpret_cast<uint2*>(at) = {bf16_bits(values[0]) | bf16_bits(values[1]) << 16,
                                     bf16_bits(values[2]) | bf16_bits(values[3]) << 16};
}

/// What a thread holds of a row.
struct Eight {
    float at[8];
    __device__ float& operator[](int i) { return at[i]; }
    __device__ float operator[](int i) const { return at[i]; }
};

/// The column of a thread's element i, in a warp whose columns begin at `first`.
__device__ __forceinline__ std::int64_t column_of(int i, std::int64_t first) {
    return first + 128 * (i / 4) + 4 * lane() + i % 4;
}

/// A thread's part of a row; zero behind its end.
/// @tparam quads  rows are whole quads and aligned so, throughout
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

}  // namespace bertpretrain::cuda
