#include <stdexcept>

#include <ATen/ATen.h>

#include "kernels/interface/fused_types.h"

namespace bertpretrain {

bool is_bf16_sum(at::ScalarType sum_dtype, at::ScalarType compute_dtype) {
    if (sum_dtype != at::kBFloat16) return false;
    if (compute_dtype != at::kBFloat16) throw std::logic_error("a residual in bf16 needs matmuls in bf16");
    return true;
}

at::Tensor bias_or_zeros(const at::Tensor& bias_X, const at::Tensor& rows_TX) {
    return bias_X.defined() ? bias_X : at::zeros({rows_TX.size(1)}, rows_TX.options().dtype(at::kFloat));
}

Residual Residual::of(const NormResult& normed, const NormParameters& norm) {
    Residual residual(normed.sum_TH);
    residual.mean_T_ = normed.mean_T;
    residual.rstd_T_ = normed.rstd_T;
    residual.norm_ = {norm.weight_H, bias_or_zeros(norm.bias_H, normed.sum_TH), norm.kind};
    return residual;
}

at::Tensor Residual::fp32() const {
    if (!is_normed()) return rows_TH_.defined() ? rows_TH_.to(at::kFloat) : rows_TH_;
    return (rows_TH_.to(at::kFloat) - mean_T_.unsqueeze(1)) * rstd_T_.unsqueeze(1) * norm_.weight_H + norm_.bias_H;
}

Residual Residual::select(const at::Tensor& index_R) const {
    if (!defined()) return *this;
    Residual selected(rows_TH_.index_select(0, index_R));
    if (!is_normed()) return selected;
    selected.mean_T_ = mean_T_.index_select(0, index_R);
    selected.rstd_T_ = rstd_T_.index_select(0, index_R);
    selected.norm_ = norm_;
    return selected;
}

}  // namespace bertpretrain
