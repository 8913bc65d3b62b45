// A block rounds a tile of 128 rows and 64 columns: each thread a square of four rows and four columns at a time, whose transpose
// it builds in registers. The transposed tile goes through shared memory, so that both results are written in whole 32-byte
// parts.
#include "kernels/cuda/fp8.h"
#include "kernels/cuda/lanes.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/quantize.h"

namespace bertpretrain::cuda {
namespace {

constexpr int tile_rows = 128, tile_columns = 64, threads_per_block = 256;
constexpr int squares_across = tile_columns / 4, squares_down = tile_rows / 4;

/// The largest magnitude of the block's elements as bits, which order like the magnitudes; NaN is above infinity.
__device__ __forceinline__ void add_largest(unsigned magnitude, float* largest) {
    __shared__ unsigned of_warp[threads_per_block / warp_lanes];
    for (int step = warp_lanes / 2; step > 0; step /= 2) {
        const unsigned other = __shfl_xor_sync(all_lanes, magnitude, step);
        magnitude = other > magnitude ? other : magnitude;
    }
    if (lane() == 0) of_warp[warp()] = magnitude;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (const unsigned other : of_warp) magnitude = other > magnitude ? other : magnitude;
    atomicMax(reinterpret_cast<unsigned*>(largest), magnitude);  // the order of blocks does not matter
}

template <class F>
__global__ void __launch_bounds__(threads_per_block) quantize_tiles(const Quantized pass) {
    __shared__ unsigned transposed[tile_columns][squares_down + 1];  // the padding avoids bank conflicts
    const std::int64_t first_row = std::int64_t{blockIdx.y} * tile_rows, first_column = std::int64_t{blockIdx.x} * tile_columns;
    const float scale = *pass.scale;
    unsigned magnitude = 0;
    for (int square = static_cast<int>(threadIdx.x); square < squares_across * squares_down; square += threads_per_block) {
        const int across = square % squares_across, down = square / squares_across;
        const std::int64_t row = first_row + 4 * down, column = first_column + 4 * across;
        if (row >= pass.rows || column >= pass.width) continue;
        float x[4][4];
#pragma unroll
        for (int r = 0; r < 4; ++r) load_quad(pass.x + (row + r) * pass.width + column, x[r]);
        unsigned bytes[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const unsigned bits = __float_as_uint(x[r][c]) & 0x7FFFFFFFU;
                magnitude = bits > magnitude ? bits : magnitude;
                x[r][c] *= scale;
            }
            bytes[r] = fp8_quad<F>(x[r]);
            *reinterpret_cast<unsigned*>(pass.by_row + (row + r) * pass.width + column) = bytes[r];
        }
        transpose_bytes(bytes);
#pragma unroll
        for (int c = 0; c < 4; ++c) transposed[4 * across + c][down] = bytes[c];
    }
    __syncthreads();
    for (int quad = static_cast<int>(threadIdx.x); quad < tile_columns * squares_down; quad += threads_per_block) {
        const int across = quad / squares_down, down = quad % squares_down;
        const std::int64_t row = first_row + 4 * down, column = first_column + across;
        if (row < pass.rows && column < pass.width)
            *reinterpret_cast<unsigned*>(pass.by_column + column * pass.rows + row) = transposed[across][down];
    }
    add_largest(magnitude, pass.largest);
}

}  // namespace

template <class F>
void quantize(const Quantized& pass, cudaStream_t stream) {
    launch(quantize_tiles<F>, grid_of(ceil_div(pass.width, tile_columns), ceil_div(pass.rows, tile_rows)), threads_per_block,
           stream, pass);
}
template void quantize<E4m3>(const Quantized&, cudaStream_t);
template void quantize<E5m2>(const Quantized&, cudaStream_t);

}  // namespace bertpretrain::cuda
