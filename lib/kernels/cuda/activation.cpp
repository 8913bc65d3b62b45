#include "kernels/cuda/activation.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "kernels/cuda/bias_rows.h"
#include "kernels/cuda/column_sums.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tensors.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cuda {
at::Tensor bias_activation(const at::Tensor& x_TF, const at::Tensor& bias_F, Activation activation) {
    const at::Tensor y_TF = at::empty_like(x_TF), added_F = bias_or_zeros(bias_F, x_TF);
    const std::int64_t T = x_TF.size(0), F = x_TF.size(1);
    with_compute_dtype(x_TF.scalar_type(), [&](auto w) {
        using W = decltype(w);
        bias_forward<W>({T, F, compute_data<W>(x_TF), fp32_data(added_F), compute_data<W>(y_TF)}, function_of(activation),
                        in_quads(F, {x_TF, added_F, y_TF}), current_stream());
    });
    return y_TF;
}

at::Tensor bias_activation_backward(const at::Tensor& dy_TF, const at::Tensor& x_TF, const at::Tensor& bias_F,
                                    Activation activation, const at::Tensor& d_bias_F) {
    const at::Tensor dx_TF = at::empty_like(x_TF), added_F = bias_or_zeros(bias_F, x_TF);
    const std::int64_t T = x_TF.size(0), F = x_TF.size(1);
    const at::Tensor chunk_sums_CF = at::empty({row_chunks(T), F}, added_F.options());
    with_compute_dtype(x_TF.scalar_type(), [&](auto w) {
        using W = decltype(w);
        bias_backward<W>({T, F, compute_data<W>(dy_TF), compute_data<W>(x_TF), fp32_data(added_F), compute_data<W>(dx_TF),
                          fp32_data(chunk_sums_CF)},
                         function_of(activation), in_quads(F, {dy_TF, x_TF, added_F, dx_TF, chunk_sums_CF}), current_stream());
    });
    if (d_bias_F.defined())
        add_column_sums({fp32_data(chunk_sums_CF), row_chunks(T), 1, F, {fp32_data(d_bias_F)}}, current_stream());
    return dx_TF;
}

at::Tensor gated_activation(const at::Tensor& x_T2F, Activation activation) {
    const std::int64_t T = x_T2F.size(0), F = x_T2F.size(1) / 2;
    const at::Tensor y_TF = at::empty({T, F}, x_T2F.options());
    with_compute_dtype(x_T2F.scalar_type(), [&](auto w) {
        using W = decltype(w);
        gated_forward<W>({T, F, compute_data<W>(x_T2F), compute_data<W>(y_TF)}, function_of(activation),
                         in_quads(F, {x_T2F, y_TF}), current_stream());
    });
    return y_TF;
}

at::Tensor gated_activation_backward(const at::Tensor& dy_TF, const at::Tensor& x_T2F, Activation activation) {
    const std::int64_t T = dy_TF.size(0), F = dy_TF.size(1);
    const at::Tensor dx_T2F = at::empty_like(x_T2F);
    with_compute_dtype(x_T2F.scalar_type(), [&](auto w) {
        using W = decltype(w);
        gated_backward<W>({T, F, compute_data<W>(dy_TF), compute_data<W>(x_T2F), compute_data<W>(dx_T2F)},
                          function_of(activation), in_quads(F, {dy_TF, x_T2F, dx_T2F}), current_stream());
    });
    return dx_T2F;
}

}  // namespace bertpretrain::cuda
