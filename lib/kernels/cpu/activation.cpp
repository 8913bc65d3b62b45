// GELU fused with the bias of the preceding matmul.
#include <ATen/ATen.h>

#include "kernels/cpu/row_chunks.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cpu {
namespace {

constexpr float tanh_slope = 0.79788456F, tanh_cube = 0.044715F;  // sqrt(2 / pi), Google's fit

template <bool use_tanh>
BERTPRETRAIN_INLINE float activated(float x) {
    if constexpr (use_tanh) return 0.5F * x * (1.0F + hyperbolic_tangent(tanh_slope * (x + tanh_cube * x * x * x)));
    return x * normal(x).distribution;
}

template <bool use_tanh>
BERTPRETRAIN_INLINE float slope(float x) {
    if constexpr (use_tanh) {
        const float bend = hyperbolic_tangent(tanh_slope * (x + tanh_cube * x * x * x));
        return 0.5F * (1.0F + bend) + 0.5F * x * (1.0F - bend * bend) * tanh_slope * (1.0F + 3.0F * tanh_cube * x * x);
    }
    const Normal at = normal(x);
    return at.distribution + x * at.density;
}

template <class W>
BERTPRETRAIN_INLINE void forward_row(const W* x, const float* bias, std::int64_t width, Activation activation, W* y) {
    if (activation == Activation::gelu_tanh)
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) store(y + i, activated<true>(load(x + i) + bias[i]));
    else
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) store(y + i, activated<false>(load(x + i) + bias[i]));
}

template <bool use_tanh, class W>
BERTPRETRAIN_INLINE void backward_elements(const W* dy, const W* x, const float* bias, std::int64_t width, W* dx, float* d_bias) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) {
        const float d = load(dy + i) * slope<use_tanh>(load(x + i) + bias[i]);
        d_bias[i] += d;
        store(dx + i, d);
    }
}

template <class W>
BERTPRETRAIN_INLINE void backward_row(const W* dy, const W* x, const float* bias, std::int64_t width, Activation activation,
                                      W* dx, float* d_bias) {
    if (activation == Activation::gelu_tanh) backward_elements<true>(dy, x, bias, width, dx, d_bias);
    else backward_elements<false>(dy, x, bias, width, dx, d_bias);
}

}  // namespace

at::Tensor bias_activation(const at::Tensor& x_TF, const at::Tensor& bias_F, Activation activation) {
    at::Tensor y_TF = at::empty_like(x_TF);
    const at::Tensor added_F = bias_or_zeros(bias_F, x_TF);
    const std::int64_t F = x_TF.size(1);
    with_compute_dtype(x_TF.scalar_type(), [&](auto w) {
        using W = decltype(w);
        for_row_chunks(x_TF.size(0), [&](std::int64_t, std::int64_t first, std::int64_t end) {
            for (std::int64_t t = first; t < end; ++t) {
                const W* x = compute_data<W>(x_TF) + t * F;
                for_stretches(
                    F, [&](std::int64_t from) { fetch(x + from, stretch); },
                    [&](std::int64_t from, std::int64_t width) {
                        by_instruction_set<&forward_row<W>>(x + from, fp32_data(added_F) + from, width, activation,
                                                            compute_data<W>(y_TF) + t * F + from);
                    });
            }
        });
    });
    return y_TF;
}

at::Tensor bias_activation_backward(const at::Tensor& dy_TF, const at::Tensor& x_TF, const at::Tensor& bias_F,
                                    Activation activation, const at::Tensor& d_bias_F) {
    at::Tensor dx_TF = at::empty_like(x_TF);
    const at::Tensor added_F = bias_or_zeros(bias_F, x_TF);
    const std::int64_t T = x_TF.size(0), F = x_TF.size(1);
    ColumnSums bias_sums(T, F);
    with_compute_dtype(x_TF.scalar_type(), [&](auto w) {
        using W = decltype(w);
        for_row_chunks(T, [&](std::int64_t chunk, std::int64_t first, std::int64_t end) {
            for (std::int64_t t = first; t < end; ++t) {
                const W *x = compute_data<W>(x_TF) + t * F, *dy = compute_data<W>(dy_TF) + t * F;
                for_stretches(
                    F,
                    [&](std::int64_t from) {
                        fetch(x + from, stretch);
                        fetch(dy + from, stretch);
                    },
                    [&](std::int64_t from, std::int64_t width) {
                        by_instruction_set<&backward_row<W>>(dy + from, x + from, fp32_data(added_F) + from, width, activation,
                                                             compute_data<W>(dx_TF) + t * F + from,
                                                             bias_sums.chunk(chunk) + from);
                    });
            }
        });
    });
    if (d_bias_F.defined()) bias_sums.add_to(fp32_data(d_bias_F));
    return dx_TF;
}

}  // namespace bertpretrain::cpu
