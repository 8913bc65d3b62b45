// A block sums 32 columns: each of its 16 warps every sixteenth chunk, then one warp the results of the 16.
#include "kernels/cuda/column_sums.h"

#include "kernels/cuda/lanes.h"
#include "kernels/cuda/launch.h"

namespace bertpretrain::cuda {
namespace {

constexpr int sum_warps = 16;

/// Adds the warps' sums of a column, in order. @returns the sum, in the threads of the first warp
__device__ __forceinline__ float sum_over_warps(float sum) {
    __shared__ float of_warps[sum_warps][warp_lanes];
    of_warps[warp()][lane()] = sum;
    __syncthreads();
    for (int w = 1; warp() == 0 && w < sum_warps; ++w) sum += of_warps[w][lane()];
    return sum;
}

__global__ void add_columns(const __grid_constant__ ColumnSums sums) {
    wait_for_kernel_before();
    if (sums.totals[blockIdx.y] == nullptr) return;
    const std::int64_t column = std::int64_t{blockIdx.x} * warp_lanes + lane(), kind = blockIdx.y;
    float sum = 0;
    if (column < sums.columns)
        for (std::int64_t chunk = warp(); chunk < sums.chunks; chunk += sum_warps)
            sum += sums.chunk_sums[(chunk * sums.kinds + kind) * sums.columns + column];
    sum = sum_over_warps(sum);
    if (warp() == 0 && column < sums.columns) sums.totals[kind][column] += sum;
}

__global__ void add_tiles(const __grid_constant__ TileSums sums) {
    wait_for_kernel_before();
    const std::int64_t column = std::int64_t{blockIdx.x} * warp_lanes + lane();
    float sum = 0;
    for (std::int64_t b = 0; b < sums.sequences && column < sums.columns; ++b) {
        const std::int64_t parts = (sums.starts_B1[b + 1] - sums.starts_B1[b] + sums.rows - 1) / sums.rows,
                           place = b * sums.parts_of_longest;  // of its first part
        for (std::int64_t part = (warp() + sum_warps - place % sum_warps) % sum_warps; part < parts; part += sum_warps)
            sum += sums.tile_sums[(sums.first_tile_B[b] + part) * sums.columns + column];
    }
    sum = sum_over_warps(sum);
    if (warp() == 0 && column < sums.columns) sums.total[column] += sum;
}

}  // namespace

void add_column_sums(const ColumnSums& sums, cudaStream_t stream) {
    launch(add_columns, grid_of(ceil_div(sums.columns, warp_lanes), sums.kinds), sum_warps * warp_lanes, stream, sums);
}

void add_tile_sums(const TileSums& sums, cudaStream_t stream) {
    launch(add_tiles, grid_of(ceil_div(sums.columns, warp_lanes)), sum_warps * warp_lanes, stream, sums);
}

}  // namespace bertpretrain::cuda
