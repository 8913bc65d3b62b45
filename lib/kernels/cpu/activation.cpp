// Activations fused with the bias of the preceding matmul, or with the gate that they multiply.
#include <ATen/ATen.h>

#include "kernels/cpu/row_chunks.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cpu {
namespace {

constexpr float tanh_slope = 0.79788456F, tanh_cube = 0.044715F;  // sqrt(2 / pi), Google's fit

template <Activation kind>
BERTPRETRAIN_INLINE float activated(float x) {
    if constexpr (kind == Activation::gelu_tanh)
        return 0.5F * x * (1.0F + hyperbolic_tangent(tanh_slope * (x + tanh_cube * x * x * x)));
    else if constexpr (kind == Activation::silu) return x * logistic(x);
    else return x * normal(x).distribution;
}

template <Activation kind>
BERTPRETRAIN_INLINE float slope(float x) {
    if constexpr (kind == Activation::gelu_tanh) {
        const float bend = hyperbolic_tangent(tanh_slope * (x + tanh_cube * x * x * x));
        return 0.5F * (1.0F + bend) + 0.5F * x * (1.0F - bend * bend) * tanh_slope * (1.0F + 3.0F * tanh_cube * x * x);
    } else if constexpr (kind == Activation::silu) {
        const float share = logistic(x);
        return share * (1.0F + x * (1.0F - share));
    } else {
        const Normal at = normal(x);
        return at.distribution + x * at.density;
    }
}

template <Activation kind, class W>
BERTPRETRAIN_INLINE void forward_row(const W* x, const float* bias, std::int64_t width, W* y) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) store(y + i, activated<kind>(load(x + i) + bias[i]));
}

template <Activation kind, class W>
BERTPRETRAIN_INLINE void backward_row(const W* dy, const W* x, const float* bias, std::int64_t width, W* dx, float* d_bias) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) {
        const float d = load(dy + i) * slope<kind>(load(x + i) + bias[i]);
        d_bias[i] += d;
        store(dx + i, d);
    }
}

template <Activation kind, class W>
BERTPRETRAIN_INLINE void gated_row(const W* a, const W* b, std::int64_t width, W* y) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) store(y + i, activated<kind>(load(a + i)) * load(b + i));
}

template <Activation kind, class W>
BERTPRETRAIN_INLINE void gated_backward_row(const W* dy, const W* a, const W* b, std::int64_t width, W* da, W* db) {
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) {
        const float at = load(a + i), d = load(dy + i);
        store(da + i, d * load(b + i) * slope<kind>(at));
        store(db + i, d * activated<kind>(at));
    }
}

/// Calls body.operator()<kind>().
template <class Body>
void with_activation(Activation kind, const Body& body) {
    switch (kind) {
        case Activation::gelu_erf:
            return body.template operator()<Activation::gelu_erf>();
        case Activation::gelu_tanh:
            return body.template operator()<Activation::gelu_tanh>();
        case Activation::silu:
            return body.template operator()<Activation::silu>();
    }
}

/// Calls body.operator()<kind, W>(row) in parallel for all rows.
template <class Body>
void for_rows(at::ScalarType compute_dtype, Activation activation, std::int64_t rows, const Body& body) {
    with_compute_dtype(compute_dtype, [&](auto w) {
        using W = decltype(w);
        with_activation(activation, [&]<Activation kind>() {
            for_row_chunks(rows, [&](std::int64_t chunk, std::int64_t first, std::int64_t end) {
                for (std::int64_t t = first; t < end; ++t) body.template operator()<kind, W>(t, chunk);
            });
        });
    });
}

}  // namespace

at::Tensor bias_activation(const at::Tensor& x_TF, const at::Tensor& bias_F, Activation activation) {
    at::Tensor y_TF = at::empty_like(x_TF);
    const at::Tensor added_F = bias_or_zeros(bias_F, x_TF);
    const std::int64_t F = x_TF.size(1);
    for_rows(x_TF.scalar_type(), activation, x_TF.size(0), [&]<Activation kind, class W>(std::int64_t t, std::int64_t) {
        const W* x = compute_data<W>(x_TF) + t * F;
        for_stretches(
            F, [&](std::int64_t from) { fetch(x + from, stretch); },
            [&](std::int64_t from, std::int64_t width) {
                by_instruction_set<&forward_row<kind, W>>(x + from, fp32_data(added_F) + from, width,
                                                          compute_data<W>(y_TF) + t * F + from);
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
    for_rows(x_TF.scalar_type(), activation, T, [&]<Activation kind, class W>(std::int64_t t, std::int64_t chunk) {
        const W *x = compute_data<W>(x_TF) + t * F, *dy = compute_data<W>(dy_TF) + t * F;
        for_stretches(
            F,
            [&](std::int64_t from) {
                fetch(x + from, stretch);
                fetch(dy + from, stretch);
            },
            [&](std::int64_t from, std::int64_t width) {
                by_instruction_set<&backward_row<kind, W>>(dy + from, x + from, fp32_data(added_F) + from, width,
                                                           compute_data<W>(dx_TF) + t * F + from, bias_sums.chunk(chunk) + from);
            });
    });
    if (d_bias_F.defined()) bias_sums.add_to(fp32_data(d_bias_F));
    return dx_TF;
}

at::Tensor gated_activation(const at::Tensor& x_T2F, Activation activation) {
    const std::int64_t T = x_T2F.size(0), F = x_T2F.size(1) / 2;
    at::Tensor y_TF = at::empty({T, F}, x_T2F.options());
    for_rows(x_T2F.scalar_type(), activation, T, [&]<Activation kind, class W>(std::int64_t t, std::int64_t) {
        const W* a = compute_data<W>(x_T2F) + t * 2 * F;
        for_stretches(
            F,
            [&](std::int64_t from) {
                fetch(a + from, stretch);
                fetch(a + F + from, stretch);
            },
            [&](std::int64_t from, std::int64_t width) {
                by_instruction_set<&gated_row<kind, W>>(a + from, a + F + from, width, compute_data<W>(y_TF) + t * F + from);
            });
    });
    return y_TF;
}

at::Tensor gated_activation_backward(const at::Tensor& dy_TF, const at::Tensor& x_T2F, Activation activation) {
    const std::int64_t T = dy_TF.size(0), F = dy_TF.size(1);
    at::Tensor dx_T2F = at::empty_like(x_T2F);
    for_rows(x_T2F.scalar_type(), activation, T, [&]<Activation kind, class W>(std::int64_t t, std::int64_t) {
        const W *a = compute_data<W>(x_T2F) + t * 2 * F, *dy = compute_data<W>(dy_TF) + t * F;
        W* da = compute_data<W>(dx_T2F) + t * 2 * F;
        for_stretches(
            F,
            [&](std::int64_t from) {
                fetch(a + from, stretch);
                fetch(a + F + from, stretch);
                fetch(dy + from, stretch);
            },
            [&](std::int64_t from, std::int64_t width) {
                by_instruction_set<&gated_backward_row<kind, W>>(dy + from, a + from, a + F + from, width, da + from,
                                                                 da + F + from);
            });
    });
    return dx_T2F;
}

}  // namespace bertpretrain::cpu
