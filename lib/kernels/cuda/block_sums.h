#pragma once
// Sums over the threads of a block, in a fixed order.

#include <cstddef>

#include "kernels/cuda/lanes.h"

namespace bertpretrain::cuda {

template <class T>
__device__ __forceinline__ T warp_sum(T value) {
    for (int apart = warp_lanes / 2; apart > 0; apart /= 2) value += __shfl_xor_sync(all_lanes, value, apart);
    return value;
}

/// Replaces each of `values`, in all threads, by its sum over the block.
/// @param slot  0 or 1, alternating between calls: a slow warp may still read the sums of the previous call
template <std::size_t count, class T>
__device__ __forceinline__ void block_sums(T (&values)[count], int slot) {
    __shared__ T of_warps[2][count][warp_lanes];
    for (T& value : values) value = warp_sum(value);
    if (block_warps() == 1) return;
    if (lane() == 0)
        for (std::size_t k = 0; k < count; ++k) of_warps[slot][k][warp()] = values[k];
    __syncthreads();
    for (std::size_t k = 0; k < count; ++k) {
        values[k] = 0;
        for (int w = 0; w < block_warps(); ++w) values[k] += of_warps[slot][k][w];
    }
}

}  // namespace bertpretrain::cuda
