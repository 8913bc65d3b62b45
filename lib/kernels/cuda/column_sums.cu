// A block sums 32 columns: each of its 16 warps every sixteenth chunk, then one warp the results of the 16.
#include "kernels/cuda/column_sums.h"

#include "kernels/cuda/lanes.h"
#include "kernels/cuda/launch.h"

namespace bertpretrain::cuda {
namespace {

constexpr int sum_warps = 16;

__global__ void add_columns(const __grid_constant__ ColumnSums sums) {
    __shared__ float of_warps[sum_warps][warp_lanes];
    if (sums.totals[blockIdx.y] == nullptr) return;
    const std::int64_t column = std::int64_t{blockIdx.x} * warp_lanes + lane(), kind = blockIdx.y;
    float sum = 0;
    if (column < sums.columns)
        for (std::int64_t chunk = warp(); chunk < sums.chunks; chunk += sum_warps)
            sum += sums.chunk_sums[(chunk * sums.kinds + kind) * sums.columns + column];
    of_warps[warp()][lane()] = sum;
    __syncthreads();
    if (warp() != 0 || column >= sums.columns) return;
    for (int w = 1; w < sum_warps; ++w) sum += of_warps[w][lane()];
    sums.totals[kind][column] += sum;
}

}  // namespace

void add_column_sums(const ColumnSums& sums, cudaStream_t stream) {
    launch(add_columns, grid_of(ceil_div(sums.columns, warp_lanes), sums.kinds), sum_warps * warp_lanes, stream, sums);
}

}  // namespace bertpretrain::cuda
