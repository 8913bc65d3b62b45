#include "kernels/cuda/bias_rows.h"

#include "kernels/cuda/lanes.h"
#include "kernels/cuda/launch.h"

namespace bertpretrain::cuda {
namespace {

constexpr float tanh_slope = 0.79788456F, tanh_cube = 0.044715F;  // sqrt(2 / pi), Google's fit
constexpr float density_at_0 = 0.39894228F;
constexpr std::int64_t warps_per_block = 4;

/// tanh(x), absolute error below 2e-7.
__device__ __forceinline__ float hyperbolic_tangent(float x) { return 1.0F - 2.0F / (expf(2.0F * x) + 1.0F); }
/// The normal CDF (Phi) and density at x; absolute error below 1e-7.
struct Normal {
    float distribution, density;
};
/// Phi(-|x|) = e^(-x^2 / 2) q(|x|), with the polynomial of the CPU kernels (kernels/cpu/vector_math.h).
__device__ __forceinline__ Normal normal(float x) {
    constexpr float end = 5.5F;
    constexpr float coefficients[] = {5.85300661e-08F,
                                      -1.60359889e-06F,
                                      1.98924627e-05F,
                                      -0.000149788364F,
                                      0.000779665483F,
                                      -0.00305533223F,
                                      0.00965977367F,
                                      -0.0260691512F,
                                      0.0622623749F,
                                      -0.132916898F,
                                      0.249991104F,
                                      -0.398941785F,
                                      0.5F};
    const float m = fminf(fabsf(x), end);
    float q = coefficients[0];
#pragma unroll
    for (int i = 1; i < 13; ++i) q = fmaf(q, m, coefficients[i]);
    const float gauss = exp2_fast(-0.5F * log2_of_e * x * x), below = gauss * q;
    return {x < 0 ? below : 1.0F - below, density_at_0 * gauss};
}

template <RowFunction function>
__device__ __forceinline__ float value_at(float x) {
    if constexpr (function == RowFunction::identity) return x;
    else if constexpr (function == RowFunction::gelu_erf) return x * normal(x).distribution;
    else return 0.5F * x * (1.0F + hyperbolic_tangent(tanh_slope * (x + tanh_cube * x * x * x)));
}

template <RowFunction function>
__device__ __forceinline__ float slope_at(float x) {
    if constexpr (function == RowFunction::identity) return 1.0F;
    else if constexpr (function == RowFunction::gelu_erf) {
        const Normal at = normal(x);
        return at.distribution + x * at.density;
    } else {
        const float bend = hyperbolic_tangent(tanh_slope * (x + tanh_cube * x * x * x));
        return 0.5F * (1.0F + bend) + 0.5F * x * (1.0F - bend * bend) * tanh_slope * (1.0F + 3.0F * tanh_cube * x * x);
    }
}

/// Returns the first column of this warp.
__device__ __forceinline__ std::int64_t first_column() { return (blockIdx.x * warps_per_block + warp()) * warp_columns; }

template <class W, RowFunction function, bool quads>
__global__ void forward_rows(const BiasForward<W> pass, std::int64_t chunk_rows) {
    const std::int64_t first = first_column(), first_row = blockIdx.y * chunk_rows;
    const Eight bias = load_eight<quads>(pass.bias, first, pass.width);
    for (std::int64_t row = first_row; row < first_row + chunk_rows && row < pass.rows; ++row) {
        Eight values = load_eight<quads>(pass.x + row * pass.width, first, pass.width);
        for (int i = 0; i < 8; ++i) values[i] = value_at<function>(values[i] + bias[i]);
        store_eight<quads>(pass.y + row * pass.width, first, pass.width, values);
    }
}

template <class W, RowFunction function, bool quads>
__global__ void backward_rows(const BiasBackward<W> pass, std::int64_t chunk_rows) {
    const std::int64_t first = first_column(), chunk = blockIdx.y, first_row = chunk * chunk_rows;
    const std::int64_t dx_stride = pass.dx_stride > 0 ? pass.dx_stride : pass.width;
    Eight bias{}, sums{};
    if constexpr (function != RowFunction::identity) bias = load_eight<quads>(pass.bias, first, pass.width);
    for (std::int64_t row = first_row; row < first_row + chunk_rows && row < pass.rows; ++row) {
        Eight d = load_eight<quads>(pass.dy + row * pass.width, first, pass.width);
        if constexpr (function != RowFunction::identity) {
            const Eight x = load_eight<quads>(pass.x + row * pass.width, first, pass.width);
            for (int i = 0; i < 8; ++i) d[i] *= slope_at<function>(x[i] + bias[i]);
        }
        for (int i = 0; i < 8; ++i) sums[i] += d[i];
        if (pass.dx != nullptr) store_eight<quads>(pass.dx + row * dx_stride, first, pass.width, d);
    }
    store_eight<quads>(pass.chunk_sums + chunk * pass.width, first, pass.width, sums);
}

dim3 grid_over(std::int64_t rows, std::int64_t width) {
    return grid_of(ceil_div(width, warps_per_block * warp_columns), row_chunks(rows));
}

/// Calls body.operator()<function, quads>().
template <class Body>
void with_constants(RowFunction function, bool quads, const Body& body) {
    const auto choose = [&]<bool q>() {
        if (function == RowFunction::gelu_erf) body.template operator()<RowFunction::gelu_erf, q>();
        else if (function == RowFunction::gelu_tanh) body.template operator()<RowFunction::gelu_tanh, q>();
        else body.template operator()<RowFunction::identity, q>();
    };
    if (quads) choose.template operator()<true>();
    else choose.template operator()<false>();
}

}  // namespace

template <class W>
void bias_forward(const BiasForward<W>& pass, RowFunction function, bool quads, cudaStream_t stream) {
    with_constants(function, quads, [&]<RowFunction f, bool q>() {
        launch(forward_rows<W, f, q>, grid_over(pass.rows, pass.width), warps_per_block * warp_lanes, stream, pass,
               rows_per_chunk(pass.rows));
    });
}
template void bias_forward(const BiasForward<float>&, RowFunction, bool, cudaStream_t);
template void bias_forward(const BiasForward<Bf16>&, RowFunction, bool, cudaStream_t);

template <class W>
void bias_backward(const BiasBackward<W>& pass, RowFunction function, bool quads, cudaStream_t stream) {
    with_constants(function, quads, [&]<RowFunction f, bool q>() {
        launch(backward_rows<W, f, q>, grid_over(pass.rows, pass.width), warps_per_block * warp_lanes, stream, pass,
               rows_per_chunk(pass.rows));
    });
}
template void bias_backward(const BiasBackward<float>&, RowFunction, bool, cudaStream_t);
template void bias_backward(const BiasBackward<Bf16>&, RowFunction, bool, cudaStream_t);

}  // namespace bertpretrain::cuda
