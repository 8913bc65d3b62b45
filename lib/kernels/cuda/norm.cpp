#include "kernels/cuda/norm.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "kernels/cuda/column_sums.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tensors.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cuda {
namespace {

float centers_of(const NormParameters& norm) { return norm.kind == NormKind::layer ? 1.0F : 0.0F; }

/// Calls body(W, S) with the types of compute dtype and sum.
void with_types(at::ScalarType compute_dtype, at::ScalarType sum_dtype, const auto& body) {
    if (is_bf16_sum(sum_dtype, compute_dtype)) body(Bf16{}, Bf16{});
    else with_compute_dtype(compute_dtype, [&](auto w) { body(w, float{}); });
}

NormedAgain normed_again(const Residual& residual) {
    return {fp32_data(residual.mean()), fp32_data(residual.rstd()), fp32_data(residual.norm().weight_H),
            fp32_data(residual.norm().bias_H)};
}

/// Whether a kernel can round rows to fp8 as they are computed: of what a layer asks for, all but odd sizes.
bool can_round(const std::optional<Quantizer>& quantizer, at::ScalarType type, std::int64_t T, bool quads,
               at::ScalarType compute_dtype) {
    return quantizer && quantizer->type == type && T % 4 == 0 && quads && compute_dtype == at::kBFloat16;
}

}  // namespace

NormResult dropout_residual_norm(const NormArguments& arguments) {
    const auto& [out_TH, bias_H, residual, norm, eps, dropout, rows, compute_dtype, keep_fp32, sum_dtype, quantizer] = arguments;
    const at::Tensor& shape_like = out_TH.defined() ? out_TH : residual.rows();
    const std::int64_t T = shape_like.size(0), H = shape_like.size(1);
    if (H > widest_row) return reference::dropout_residual_norm(arguments);
    const at::TensorOptions fp32 = norm.weight_H.options();
    const at::Tensor out_bias_H = bias_or_zeros(bias_H, shape_like), norm_bias_H = bias_or_zeros(norm.bias_H, shape_like);
    NormResult result;
    result.has_out = out_TH.defined();
    if (out_TH.defined()) result.sum_TH = at::empty({T, H}, fp32.dtype(sum_dtype));
    else result.sum_TH = residual.is_normed() ? residual.fp32().to(sum_dtype) : residual.rows();
    if (keep_fp32) result.normed_fp32_TH = at::empty({T, H}, fp32);
    result.mean_T = at::empty({T}, fp32);
    result.rstd_T = at::empty({T}, fp32);
    const at::Tensor& added_TH = out_TH.defined() ? residual.rows() : result.sum_TH;
    const bool again = out_TH.defined() && residual.is_normed();
    const bool quads = in_quads(H, {out_TH, out_bias_H, added_TH, residual.norm().weight_H, residual.norm().bias_H, norm.weight_H,
                                    norm_bias_H, result.sum_TH, result.normed_fp32_TH});
    const bool in_fp8 = can_round(quantizer, at::kFloat8_e4m3fn, T, quads, compute_dtype);
    if (in_fp8) result.normed_fp8 = empty_fp8(T, H, *quantizer);
    else result.normed_TH = at::empty({T, H}, fp32.dtype(compute_dtype));
    with_types(compute_dtype, sum_dtype, [&](auto w, auto s) {
        using W = decltype(w);
        using S = decltype(s);
        norm_forward<W, S>({T, H, compute_data<W>(out_TH), fp32_data(out_bias_H), compute_data<S>(added_TH),
                            again ? normed_again(residual) : NormedAgain{}, fp32_data(norm.weight_H), fp32_data(norm_bias_H),
                            static_cast<float>(eps), centers_of(norm), row_dropout(dropout, rows),
                            out_TH.defined() ? compute_data<S>(result.sum_TH) : nullptr, compute_data<W>(result.normed_TH),
                            fp32_data(result.normed_fp32_TH), fp32_data(result.mean_T), fp32_data(result.rstd_T),
                            in_fp8 ? fp8_rows(result.normed_fp8, *quantizer) : Fp8Rows{}},
                           quads, current_stream());
    });
    return result;
}

NormGradients dropout_residual_norm_backward(const NormBackwardArguments& arguments) {
    const auto& [d_normed_TH, d_residual_TH, d_sum_TH, forward, norm, dropout, rows, compute_dtype, d_norm, d_bias_H, quantizer] =
        arguments;
    const std::int64_t T = forward.sum_TH.size(0), H = forward.sum_TH.size(1), kinds = forward.has_out ? 3 : 2;
    if (H > widest_row) return reference::dropout_residual_norm_backward(arguments);
    const at::TensorOptions fp32 = norm.weight_H.options();
    NormGradients gradients;
    gradients.sum_TH = at::empty_like(forward.sum_TH);
    const at::Tensor chunk_sums_CKH = at::empty({row_chunks(T), kinds, H}, fp32);
    const bool quads =
        in_quads(H, {d_normed_TH, d_residual_TH, d_sum_TH, forward.sum_TH, norm.weight_H, gradients.sum_TH, chunk_sums_CKH});
    const bool in_fp8 = forward.has_out && can_round(quantizer, at::kFloat8_e5m2, T, quads, compute_dtype);
    if (in_fp8) gradients.out_fp8 = empty_fp8(T, H, *quantizer);
    else if (forward.has_out) gradients.out_TH = at::empty({T, H}, fp32.dtype(compute_dtype));
    with_types(compute_dtype, forward.sum_TH.scalar_type(), [&](auto w, auto s) {
        using W = decltype(w);
        using S = decltype(s);
        norm_backward<W, S>({T, H, compute_data<W>(d_normed_TH), compute_data<S>(d_residual_TH), compute_data<S>(d_sum_TH),
                             compute_data<S>(forward.sum_TH), fp32_data(forward.mean_T), fp32_data(forward.rstd_T),
                             fp32_data(norm.weight_H), centers_of(norm), row_dropout(dropout, rows), forward.has_out,
                             compute_data<S>(gradients.sum_TH), compute_data<W>(gradients.out_TH), fp32_data(chunk_sums_CKH),
                             in_fp8 ? fp8_rows(gradients.out_fp8, *quantizer) : Fp8Rows{}},
                            quads, current_stream());
    });
    add_column_sums({fp32_data(chunk_sums_CKH),
                     row_chunks(T),
                     kinds,
                     H,
                     {fp32_data(d_norm.weight_H), fp32_data(d_norm.bias_H), fp32_data(d_bias_H)}},
                    current_stream());
    return gradients;
}

at::Tensor dropout_rows(const at::Tensor& x_TH, const Dropout& dropout, const RowKeys& rows) {
    if (!dropout.active()) return x_TH;
    const std::int64_t T = x_TH.size(0), H = x_TH.size(1);
    if (H > widest_row) return reference::dropout_rows(x_TH, dropout, rows);
    const at::Tensor y_TH = at::empty_like(x_TH);
    dropout_rows(fp32_data(x_TH), fp32_data(y_TH), T, H, row_dropout(dropout, rows), in_quads(H, {x_TH, y_TH}), current_stream());
    return y_TH;
}

}  // namespace bertpretrain::cuda
