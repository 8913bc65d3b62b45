// One row per block, read once and kept in registers until it is normalized; and dropout without a norm.
#include "kernels/cuda/block_sums.h"
#include "kernels/cuda/dropout_factors.h"
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

template <class W, class S, bool quads>
__global__ void __launch_bounds__(512, quads ? 3 : 2) norm_forward_rows(const NormForward<W, S> pass) {
    const std::int64_t row = blockIdx.x, width = pass.width, begin = row * width, first = warp() * warp_columns;
    Eight sum{};
    if (pass.out != nullptr) {
        sum = load_eight<quads>(pass.out + begin, first, width);
        const Eight bias = load_eight<quads>(pass.out_bias, first, width);
        for (int i = 0; i < 8; ++i) sum[i] += bias[i];
        if (pass.dropout.threshold > 0) apply_dropout(kept_of_eight(pass.dropout, row, first), pass.dropout.scale, sum);
    }
    if (pass.residual != nullptr) {
        Eight residual = load_eight<quads>(pass.residual + begin, first, width);
        if (pass.residual_norm.mean != nullptr) normalize<quads>(pass.residual_norm, row, first, width, residual);
        for (int i = 0; i < 8; ++i) sum[i] += residual[i];
    }
    if (pass.sum != nullptr) {
        round_to(S{}, sum);
        store_eight<quads>(pass.sum + begin, first, width, sum);
    }

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
    store_eight<quads>(pass.normed + begin, first, width, sum);
    if (pass.normed_fp32 != nullptr) store_eight<quads>(pass.normed_fp32 + begin, first, width, sum);
    if (threadIdx.x == 0) {
        pass.mean[row] = mean;
        pass.rstd[row] = rstd;
    }
}

template <bool quads>
__global__ void drop_rows(const float* x, float* y, std::int64_t width, const RowDropout dropout) {
    const std::int64_t row = blockIdx.x, first = warp() * warp_columns;
    Eight values = load_eight<quads>(x + row * width, first, width);
    apply_dropout(kept_of_eight(dropout, row, first), dropout.scale, values);
    store_eight<quads>(y + row * width, first, width, values);
}

}  // namespace

template <class W, class S>
void norm_forward(const NormForward<W, S>& pass, bool quads, cudaStream_t stream) {
    launch(quads ? norm_forward_rows<W, S, true> : norm_forward_rows<W, S, false>, grid_of(pass.rows), row_threads(pass.width),
           stream, pass);
}
template void norm_forward(const NormForward<float, float>&, bool, cudaStream_t);
template void norm_forward(const NormForward<Bf16, float>&, bool, cudaStream_t);
template void norm_forward(const NormForward<Bf16, Bf16>&, bool, cudaStream_t);

void dropout_rows(const float* x, float* y, std::int64_t rows, std::int64_t width, const RowDropout& dropout, bool quads,
                  cudaStream_t stream) {
    launch(quads ? drop_rows<true> : drop_rows<false>, grid_of(rows), row_threads(width), stream, x, y, width, dropout);
}

}  // namespace bertpretrain::cuda
