#pragma once
// The values and slopes of activations, as device functions.

#include "kernels/cuda/arguments.h"
#include "kernels/cuda/lanes.h"

namespace bertpretrain::cuda {

constexpr float tanh_slope = 0.79788456F, tanh_cube = 0.044715F;  // sqrt(2 / pi), Google's fit
constexpr float density_at_0 = 0.39894228F;

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

/// 1 / (1 + e^-x).
__device__ __forceinline__ float logistic(float x) { return 1.0F / (1.0F + expf(-x)); }

template <RowFunction function>
__device__ __forceinline__ float value_at(float x) {
    if constexpr (function == RowFunction::identity) return x;
    else if constexpr (function == RowFunction::gelu_erf) return x * normal(x).distribution;
    else if constexpr (function == RowFunction::silu) return x * logistic(x);
    else return 0.5F * x * (1.0F + hyperbolic_tangent(tanh_slope * (x + tanh_cube * x * x * x)));
}

template <RowFunction function>
__device__ __forceinline__ float slope_at(float x) {
    if constexpr (function == RowFunction::identity) return 1.0F;
    else if constexpr (function == RowFunction::gelu_erf) {
        const Normal at = normal(x);
        return at.distribution + x * at.density;
    } else if constexpr (function == RowFunction::silu) {
        const float share = logistic(x);
        return share * (1.0F + x * (1.0F - share));
    } else {
        const float bend = hyperbolic_tangent(tanh_slope * (x + tanh_cube * x * x * x));
        return 0.5F * (1.0F + bend) + 0.5F * x * (1.0F - bend * bend) * tanh_slope * (1.0F + 3.0F * tanh_cube * x * x);
    }
}

}  // namespace bertpretrain::cuda
