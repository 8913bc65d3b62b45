#pragma once
// The fp8 operand that the next matmul reads, and its transpose, from blocks that compute whole rows (lanes.h). The transpose
// goes through shared memory, some rows at a time, so that it is written in runs along its rows.

#include "kernels/cuda/fp8.h"
#include "kernels/cuda/lanes.h"

namespace bertpretrain::cuda {

/// Returns the largest magnitude of the warp's elements, as bits, which order like the magnitudes; NaN is above infinity.
__device__ __forceinline__ unsigned largest_of_warp(unsigned magnitude) {
    for (int step = warp_lanes / 2; step > 0; step /= 2) {
        const unsigned other = __shfl_xor_sync(all_lanes, magnitude, step);
        magnitude = other > magnitude ? other : magnitude;
    }
    return magnitude;
}

/// Adds the largest magnitude of the warp's elements. Where many warps do, most only read that another one was larger; that the
/// number read may be an old one costs no more than a needless atomic operation.
__device__ __forceinline__ void add_largest_of_warp(unsigned magnitude, float* largest) {
    magnitude = largest_of_warp(magnitude);
    unsigned* const so_far = reinterpret_cast<unsigned*>(largest);
    if (lane() == 0 && magnitude > *so_far) atomicMax(so_far, magnitude);
}

/// Adds the largest magnitude of the block's elements.
__device__ __forceinline__ void add_largest(unsigned magnitude, float* largest) {
    __shared__ unsigned of_warps[warp_lanes];
    magnitude = largest_of_warp(magnitude);
    if (lane() == 0) of_warps[warp()] = magnitude;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int w = 0; w < block_warps(); ++w) magnitude = of_warps[w] > magnitude ? of_warps[w] : magnitude;
    atomicMax(reinterpret_cast<unsigned*>(largest), magnitude);  // the order of blocks does not matter
}

/// Rounds four numbers to bf16, and that times the scale to F. @param magnitude becomes the largest of itself and the numbers'
template <class F>
__device__ __forceinline__ unsigned rounded_quad(float (&x)[4], float scale, unsigned& magnitude) {
    round_pair(x[0], x[1]), round_pair(x[2], x[3]);
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        const unsigned bits = __float_as_uint(x[c]) & 0x7FFFFFFFU;
        magnitude = bits > magnitude ? bits : magnitude;
        x[c] *= scale;
    }
    return fp8_quad<F>(x);
}

/// A block's rows as they become an operand. Rows come in order; a tile begins at a multiple of its height.
template <class F>
class Fp8RowWriter {
public:
    __device__ explicit Fp8RowWriter(const Fp8Rows& operand)
        : operand_(operand), tile_(static_cast<std::uint8_t*>(dynamic_shared_memory())), scale_(*operand.scale) {}

    /// Writes a row, and keeps it for the transpose.
    __device__ __forceinline__ void put(std::int64_t row, std::int64_t first, const Eight& values) {
#pragma unroll
        for (int q = 0; q < 2; ++q) {
            const std::int64_t column = column_of(4 * q, first);
            if (column >= operand_.width) continue;
            float x[4];
            for (int c = 0; c < 4; ++c) x[c] = values[4 * q + c];
            const unsigned bytes = rounded_quad<F>(x, scale_, magnitude_);
            *reinterpret_cast<unsigned*>(operand_.by_row + row * operand_.width + column) = bytes;
#pragma unroll
            for (int c = 0; c < 4; ++c)
                tile_[place_of(4 * q + c, threadIdx.x) + row % fp8_tile_rows] = static_cast<std::uint8_t>(bytes >> 8 * c);
        }
    }

    /// Writes the transpose of the rows of one tile [begin, end) that were put. All threads of the block must call it.
    __device__ __forceinline__ void transpose(std::int64_t begin, std::int64_t end) {
        constexpr int words = fp8_tile_rows / 4;
        const std::int64_t tile_begin = begin / fp8_tile_rows * fp8_tile_rows;
        __syncthreads();
        for (unsigned at = threadIdx.x; at < 8 * blockDim.x * words; at += blockDim.x) {
            const unsigned i = at / words / blockDim.x, thread = at / words % blockDim.x, word = at % words;
            const std::int64_t column = column_of_thread(i, thread), row = tile_begin + 4 * word;
            if (column >= operand_.width || row + 4 <= begin || row >= end) continue;
            const std::uint8_t* from = tile_ + place_of(i, thread) + 4 * word;
            std::uint8_t* to = operand_.by_column + column * operand_.rows + row;
            if (row >= begin && row + 4 <= end) *reinterpret_cast<unsigned*>(to) = *reinterpret_cast<const unsigned*>(from);
            else
                for (int r = 0; r < 4; ++r)
                    if (row + r >= begin && row + r < end) to[r] = from[r];
        }
        __syncthreads();
    }

    /// Call after the last row.
    __device__ __forceinline__ void finish() const { add_largest(magnitude_, operand_.largest); }

private:
    static __device__ __forceinline__ unsigned place_of(unsigned i, unsigned thread) {
        return (i * blockDim.x + thread) * fp8_tile_pitch;
    }
    static __device__ __forceinline__ std::int64_t column_of_thread(unsigned i, unsigned thread) {
        return std::int64_t{thread / warp_lanes} * warp_columns + 128 * (i / 4) + 4 * (thread % warp_lanes) + i % 4;
    }

    const Fp8Rows& operand_;
    std::uint8_t* tile_;  ///< fp8_tile_rows bytes per column, at place_of() its element and thread
    float scale_;
    unsigned magnitude_ = 0;
};

}  // namespace bertpretrain::cuda
