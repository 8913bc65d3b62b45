#include "kernels/cuda/norm.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include "kernels/cuda/column_sums.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tensors.h"
#include "kernels/implementations.h"

namespace bertpretrain::cuda {
namespace {

NormedAgain normed_again(const Residual& residual) {
    return {exact_data(residual.mean()), exact_data(residual.inverse_deviation()), exact_data(residual.norm().weight_H),
            exact_data(residual.norm().bias_H)};
}

}  // namespace

NormResult dropout_residual_norm(const at::Tensor& out_TH, const at::Tensor& bias_H, const Residual& residual,
                                 const NormParameters& norm, double eps, const Dropout& dropout, const RowKeys& rows,
                                 at::ScalarType working, bool keep_exact) {
    const at::Tensor& shape_like = out_TH.defined() ? out_TH : residual.rows();
    const std::int64_t T = shape_like.size(0), H = shape_like.size(1);
    if (H > widest_row)
        return reference::dropout_residual_norm(out_TH, bias_H, residual, norm, eps, dropout, rows, working, keep_exact);
    const at::TensorOptions exact = norm.weight_H.options();
    NormResult result;
    result.sum_TH = out_TH.defined() ? at::empty({T, H}, exact) : residual.exact();
    result.normed_TH = at::empty({T, H}, exact.dtype(working));
    if (keep_exact) result.normed_exact_TH = at::empty({T, H}, exact);
    result.mean_T = at::empty({T}, exact);
    result.inverse_deviation_T = at::empty({T}, exact);
    const at::Tensor& added_TH = out_TH.defined() ? residual.rows() : result.sum_TH;
    const bool again = out_TH.defined() && residual.is_normed();
    const bool quads = in_quads(H, {out_TH, bias_H, added_TH, residual.norm().weight_H, residual.norm().bias_H, norm.weight_H,
                                    norm.bias_H, result.sum_TH, result.normed_TH, result.normed_exact_TH});
    with_working_type(working, [&](auto w) {
        using W = decltype(w);
        norm_forward<W>({T, H, working_data<W>(out_TH), exact_data(bias_H), exact_data(added_TH),
                         again ? normed_again(residual) : NormedAgain{}, exact_data(norm.weight_H), exact_data(norm.bias_H),
                         static_cast<float>(eps), row_dropout(dropout, rows),
                         out_TH.defined() ? exact_data(result.sum_TH) : nullptr, working_data<W>(result.normed_TH),
                         exact_data(result.normed_exact_TH), exact_data(result.mean_T), exact_data(result.inverse_deviation_T)},
                        quads, current_stream());
    });
    return result;
}

NormGradients dropout_residual_norm_backward(const at::Tensor& d_normed_TH, const at::Tensor& d_normed_exact_TH,
                                             const at::Tensor& d_sum_TH, const NormResult& forward, const NormParameters& norm,
                                             const Dropout& dropout, const RowKeys& rows, at::ScalarType working,
                                             const NormParameters& d_norm, const at::Tensor& d_bias_H) {
    const std::int64_t T = forward.sum_TH.size(0), H = forward.sum_TH.size(1), kinds = d_bias_H.defined() ? 3 : 2;
    if (H > widest_row)
        return reference::dropout_residual_norm_backward(d_normed_TH, d_normed_exact_TH, d_sum_TH, forward, norm, dropout, rows,
                                                         working, d_norm, d_bias_H);
    const at::TensorOptions exact = norm.weight_H.options();
    NormGradients gradients;
    gradients.sum_TH = at::empty({T, H}, exact);
    if (d_bias_H.defined()) gradients.out_TH = at::empty({T, H}, exact.dtype(working));
    const at::Tensor chunk_sums_CKH = at::empty({row_chunks(T), kinds, H}, exact);
    const bool quads = in_quads(H, {d_normed_TH, d_normed_exact_TH, d_sum_TH, forward.sum_TH, norm.weight_H, gradients.sum_TH,
                                    gradients.out_TH, chunk_sums_CKH});
    with_working_type(working, [&](auto w) {
        using W = decltype(w);
        norm_backward<W>({T, H, working_data<W>(d_normed_TH), exact_data(d_normed_exact_TH), exact_data(d_sum_TH),
                          exact_data(forward.sum_TH), exact_data(forward.mean_T), exact_data(forward.inverse_deviation_T),
                          exact_data(norm.weight_H), row_dropout(dropout, rows), exact_data(gradients.sum_TH),
                          working_data<W>(gradients.out_TH), exact_data(chunk_sums_CKH)},
                         quads, current_stream());
    });
    add_column_sums({exact_data(chunk_sums_CKH),
                     row_chunks(T),
                     kinds,
                     H,
                     {exact_data(d_norm.weight_H), exact_data(d_norm.bias_H), exact_data(d_bias_H)}},
                    current_stream());
    return gradients;
}

at::Tensor dropout_rows(const at::Tensor& x_TH, const Dropout& dropout, const RowKeys& rows) {
    if (!dropout.active()) return x_TH;
    const std::int64_t T = x_TH.size(0), H = x_TH.size(1);
    if (H > widest_row) return reference::dropout_rows(x_TH, dropout, rows);
    const at::Tensor y_TH = at::empty_like(x_TH);
    dropout_rows(exact_data(x_TH), exact_data(y_TH), T, H, row_dropout(dropout, rows), in_quads(H, {x_TH, y_TH}),
                 current_stream());
    return y_TH;
}

}  // namespace bertpretrain::cuda
