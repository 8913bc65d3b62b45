// One row per block, or the rows of a tile in fp8: each is read once and kept in registers until it is normalized. And dropout
// without a norm.
#include <type_traits>

#include "kernels/cuda/block_sums.h"
#include "kernels/cuda/dropout_factors.h"
#include "kernels/cuda/fp8_rows.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/norm.h"

namespace bertpretrain::cuda {
namespace {

template <bool quads>
__device__ __forceinline__ void normalize(const NormedAgain& norm, std::int64_t row, std::int64_t first, std::int64_t width,
                                          Eight& values) {
    const float mean = norm.mean[row], rstd = norm.rstd[row];
    const Eight weight = load_eight<quads>(norm.weight, first, width), bias = load_eight<quads>(norm.bias, first, width);
    for (int i = 0; i < 8; ++i) values[i] = (values[i] - mean) * rstd * weight[i] + bias[i];
}

/// Rounds values to the type that they are stored in.
__device__ __forceinline__ void round_to(float, Eight&) {}
__device__ __forceinline__ void round_to(Bf16, Eight& values) {
    for (int i = 0; i < 8; i += 2) round_pair(values[i], values[i + 1]);
}

/// Replaces `sum`, the row of `out`, by the norm's input, dropout(out + bias) + residual, and stores that.
/// @param residual the row of the residual; both rows are zeros where there is none
template <bool quads, class W, class S>
__device__ __forceinline__ void add_row(const NormForward<W, S>& pass, std::int64_t row, std::int64_t first, Eight& sum,
                                        Eight residual) {
    const std::int64_t width = pass.width;
    if (pass.out != nullptr) {
        const Eight bias = load_eight<quads>(pass.out_bias, first, width);
        for (int i = 0; i < 8; ++i) sum[i] += bias[i];
        if (pass.dropout.threshold > 0) apply_dropout(kept_of_eight(pass.dropout, row, first), pass.dropout.scale, sum);
    }
    if (pass.residual != nullptr) {
        if (pass.residual_norm.mean != nullptr) normalize<quads>(pass.residual_norm, row, first, width, residual);
        for (int i = 0; i < 8; ++i) sum[i] += residual[i];
    }
    if (pass.sum != nullptr) {
        round_to(S{}, sum);
        store_eight<quads>(pass.sum + row * width, first, width, sum);
    }
}

/// Replaces a row by its norm, and stores the statistics.
template <bool quads, class W, class S>
__device__ __forceinline__ void norm_row(const NormForward<W, S>& pass, std::int64_t row, std::int64_t first, Eight& sum) {
    const std::int64_t width = pass.width;
    float total[1] = {0};
    for (int i = 0; i < 8; ++i) total[0] += sum[i];
    block_sums(total, 0);
    const float mean = pass.centers * (total[0] / static_cast<float>(width));
    float squares[1] = {0};
    for (int i = 0; i < 8; ++i) {
        sum[i] -= mean;
        if (column_of(i, first) < width) squares[0] += sum[i] * sum[i];
    }
    block_sums(squares, 1);
    const float rstd = rsqrtf(squares[0] / static_cast<float>(width) + pass.eps);

    const Eight weight = load_eight<quads>(pass.weight, first, width), bias = load_eight<quads>(pass.bias, first, width);
    for (int i = 0; i < 8; ++i) sum[i] = sum[i] * rstd * weight[i] + bias[i];
    if (threadIdx.x == 0) {
        pass.mean[row] = mean;
        pass.rstd[row] = rstd;
    }
}

template <class W, class S, bool quads>
__global__ void __launch_bounds__(512, quads ? 3 : 2) norm_forward_rows(const NormForward<W, S> pass) {
    wait_for_kernel_before();
    const std::int64_t row = blockIdx.x, width = pass.width, begin = row * width, first = warp() * warp_columns;
    Eight values{}, residual{};
    if (pass.out != nullptr) values = load_eight<quads>(pass.out + begin, first, width);
    if (pass.residual != nullptr) residual = load_eight<quads>(pass.residual + begin, first, width);
    add_row<quads>(pass, row, first, values, residual);
    norm_row<quads>(pass, row, first, values);
    store_eight<quads>(pass.normed + begin, first, width, values);
    if (pass.normed_fp32 != nullptr) store_eight<quads>(pass.normed_fp32 + begin, first, width, values);
}

/// The rows of one tile. The next row is loaded while the current one is computed.
template <class S>
__global__ void __launch_bounds__(512, 2) norm_forward_fp8(const NormForward<Bf16, S> pass) {
    wait_for_kernel_before();
    const std::int64_t width = pass.width, first = warp() * warp_columns, begin = std::int64_t{blockIdx.x} * fp8_tile_rows;
    const std::int64_t end = begin + fp8_tile_rows < pass.rows ? begin + fp8_tile_rows : pass.rows;
    Fp8RowWriter<E4m3> writer(pass.normed_fp8);
    Loaded<true, Bf16> next_out;
    Loaded<true, S> next_residual;
    const auto load = [&](std::int64_t row) {
        if (pass.out != nullptr) next_out.load(pass.out + row * width, first, width);
        if (pass.residual != nullptr) next_residual.load(pass.residual + row * width, first, width);
    };
    load(begin);
#pragma unroll 1
    for (std::int64_t row = begin; row < end; ++row) {
        Eight values = next_out.values();
        const Eight residual = next_residual.values();
        if (row + 1 < end) load(row + 1);
        add_row<true>(pass, row, first, values, residual);
        norm_row<true>(pass, row, first, values);
        writer.put(row, first, values);
        if (pass.normed_fp32 != nullptr) store_eight<true>(pass.normed_fp32 + row * width, first, width, values);
    }
    writer.transpose(begin, end);
    writer.finish();
}

template <bool quads>
__global__ void drop_rows(const float* x, float* y, std::int64_t width, const RowDropout dropout) {
    wait_for_kernel_before();
    const std::int64_t row = blockIdx.x, first = warp() * warp_columns;
    Eight values = load_eight<quads>(x + row * width, first, width);
    apply_dropout(kept_of_eight(dropout, row, first), dropout.scale, values);
    store_eight<quads>(y + row * width, first, width, values);
}

}  // namespace

template <class W, class S>
void norm_forward(const NormForward<W, S>& pass, bool quads, cudaStream_t stream) {
    const std::int64_t threads = row_threads(pass.width);
    if constexpr (std::is_same_v<W, Bf16>)
        if (pass.normed_fp8.by_row != nullptr)
            return launch_with_shared(norm_forward_fp8<S>, grid_of(ceil_div(pass.rows, fp8_tile_rows)), threads,
                                      fp8_tile_bytes(threads), stream, pass);
    launch(quads ? norm_forward_rows<W, S, true> : norm_forward_rows<W, S, false>, grid_of(pass.rows), threads, stream, pass);
}
template void norm_forward(const NormForward<float, float>&, bool, cudaStream_t);
template void norm_forward(const NormForward<Bf16, float>&, bool, cudaStream_t);
template void norm_forward(const NormForward<Bf16, Bf16>&, bool, cudaStream_t);

void dropout_rows(const float* x, float* y, std::int64_t rows, std::int64_t width, const RowDropout& dropout, bool quads,
                  cudaStream_t stream) {
    launch(quads ? drop_rows<true> : drop_rows<false>, grid_of(rows), row_threads(width), stream, x, y, width, dropout);
}

}  // namespace bertpretrain::cuda
