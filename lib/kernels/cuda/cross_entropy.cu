// Two passes over the logits, because a vocabulary row does not fit a block's registers: first the statistics of each row, then
// the gradients by chunks of rows, whose column sums are the bias gradient.
#include "kernels/cuda/cross_entropy.h"

#include "kernels/cuda/block_sums.h"
#include "kernels/cuda/launch.h"

namespace bertpretrain::cuda {
namespace {

constexpr std::int64_t statistics_threads = 512, gradient_warps = 4, totals_threads = 256;
constexpr float lowest = -3.4e38F;

/// The largest of some logits, and their sum of exp(logit - largest).
struct Softmax {
    float largest = lowest, total = 0;

    __device__ void add(const Softmax& other) {
        const float both = fmaxf(largest, other.largest);
        total = total * expf(largest - both) + other.total * expf(other.largest - both);
        largest = both;
    }
};

__device__ __forceinline__ Softmax warp_softmax(Softmax mine) {
    for (int apart = warp_lanes / 2; apart > 0; apart /= 2)
        mine.add({__shfl_xor_sync(all_lanes, mine.largest, apart), __shfl_xor_sync(all_lanes, mine.total, apart)});
    return mine;
}

/// Combines over the block; the result is valid in thread 0. Call at most once per kernel.
__device__ __forceinline__ Softmax block_softmax(Softmax mine) {
    __shared__ float largest[warp_lanes], total[warp_lanes];
    mine = warp_softmax(mine);
    if (lane() == 0) largest[warp()] = mine.largest, total[warp()] = mine.total;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < block_warps(); ++w) mine.add({largest[w], total[w]});
    return mine;
}

template <class W, bool quads>
__global__ void row_statistics(const CrossEntropy<W> pass) {
    wait_for_kernel_before();
    const std::int64_t row = blockIdx.x, label = pass.labels[row], V = pass.vocabulary;
    if (label < 0) {
        if (threadIdx.x == 0) pass.statistics[row] = {0, 0, 0, 0};
        return;
    }
    const W* const logits = pass.logits + row * V;
    Softmax mine;
    for (std::int64_t first = warp() * warp_columns; first < V; first += block_warps() * warp_columns) {
        Eight values = load_eight<quads>(logits, first, V);
        const Eight bias = load_eight<quads>(pass.bias, first, V);
        float largest = mine.largest;
        for (int i = 0; i < 8; ++i) {
            values[i] = column_of(i, first) < V ? values[i] + bias[i] : lowest;
            largest = fmaxf(largest, values[i]);
        }
        mine.total *= expf(mine.largest - largest);
        for (int i = 0; i < 8; ++i) mine.total += expf(values[i] - largest);
        mine.largest = largest;
    }
    const Softmax all = block_softmax(mine);
    if (threadIdx.x != 0) return;
    const float of_label = to_float(logits[label]) + pass.bias[label];
    pass.statistics[row] = {
        log(static_cast<double>(all.total)) + static_cast<double>(all.largest) - static_cast<double>(of_label), all.largest,
        1.0F / all.total, of_label == all.largest ? 1 : 0};
}

template <class W, bool quads>
__global__ void gradient_rows(const CrossEntropy<W> pass, std::int64_t chunk_rows) {
    wait_for_kernel_before();
    const std::int64_t first = (blockIdx.x * gradient_warps + warp()) * warp_columns, V = pass.vocabulary;
    const std::int64_t chunk = blockIdx.y, first_row = chunk * chunk_rows;
    const Eight bias = load_eight<quads>(pass.bias, first, V);
    Eight sums{};
    for (std::int64_t row = first_row; row < first_row + chunk_rows && row < pass.rows; ++row) {
        const std::int64_t label = pass.labels[row];
        Eight d{};
        if (label >= 0) {
            const RowStatistics& softmax = pass.statistics[row];
            d = load_eight<quads>(pass.logits + row * V, first, V);
            for (int i = 0; i < 8; ++i) {
                d[i] = expf(d[i] + bias[i] - softmax.largest) * softmax.inverse_total * pass.scale;
                if (column_of(i, first) == label) d[i] -= pass.scale;
                sums[i] += d[i];
            }
        }
        store_eight<quads>(pass.logits + row * V, first, V, d);
    }
    store_eight<quads>(pass.chunk_sums + chunk * V, first, V, sums);
}

__global__ void add_totals(const RowStatistics* statistics, std::int64_t rows, double* totals) {
    wait_for_kernel_before();
    double sums[2] = {0, 0};
    for (std::int64_t row = threadIdx.x; row < rows; row += blockDim.x) {
        sums[0] += statistics[row].loss;
        sums[1] += statistics[row].correct;
    }
    block_sums(sums, 0);
    if (threadIdx.x < 2) totals[threadIdx.x] += sums[threadIdx.x];
}

}  // namespace

template <class W>
void cross_entropy(const CrossEntropy<W>& pass, bool quads, cudaStream_t stream) {
    launch(quads ? row_statistics<W, true> : row_statistics<W, false>, grid_of(pass.rows), statistics_threads, stream, pass);
    launch(quads ? gradient_rows<W, true> : gradient_rows<W, false>,
           grid_of(ceil_div(pass.vocabulary, gradient_warps * warp_columns), row_chunks(pass.rows)), gradient_warps * warp_lanes,
           stream, pass, rows_per_chunk(pass.rows));
    launch(add_totals, grid_of(1), totals_threads, stream, pass.statistics, pass.rows, pass.totals);
}
template void cross_entropy(const CrossEntropy<float>&, bool, cudaStream_t);
template void cross_entropy(const CrossEntropy<Bf16>&, bool, cudaStream_t);

}  // namespace bertpretrain::cuda
