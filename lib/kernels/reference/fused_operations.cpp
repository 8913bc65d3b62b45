// The specification of each fused operation in plain ATen: slow, clear, and correct on every device.
#include <cmath>

#include <ATen/ATen.h>

#include "kernels/interface/implementations.h"
#include "kernels/reference/dropout_factors.h"

namespace bertpretrain::reference {
namespace {

at::Tensor row_factors(const Dropout& dropout, const RowKeys& rows, std::int64_t elements) {
    return dropout_factors(dropout, rows.sample_T, rows.position_T, at::zeros_like(rows.sample_T), elements);
}

at::Tensor activated(const at::Tensor& x_fp32, Activation activation) {
    if (activation == Activation::silu) return at::silu(x_fp32);
    return at::gelu(x_fp32, activation == Activation::gelu_tanh ? "tanh" : "none");
}

at::Tensor activation_gradient(const at::Tensor& dy_fp32, const at::Tensor& x_fp32, Activation activation) {
    if (activation == Activation::silu) return at::silu_backward(dy_fp32, x_fp32);
    return at::gelu_backward(dy_fp32, x_fp32, activation == Activation::gelu_tanh ? "tanh" : "none");
}

}  // namespace

NormResult dropout_residual_norm(const NormArguments& arguments) {
    const auto& [out_TH, bias_H, residual, norm, eps, dropout, rows, compute_dtype, keep_fp32, sum_dtype, unused] = arguments;
    const at::Tensor residual_TH = residual.fp32();
    NormResult result;
    result.has_out = out_TH.defined();
    at::Tensor sum_TH = residual_TH;
    if (out_TH.defined()) {
        sum_TH = out_TH.to(at::kFloat) + bias_or_zeros(bias_H, out_TH);
        if (dropout.active()) sum_TH = sum_TH * row_factors(dropout, rows, out_TH.size(1));
        if (residual_TH.defined()) sum_TH = sum_TH + residual_TH;
    }
    result.sum_TH = is_bf16_sum(sum_dtype, compute_dtype) ? sum_TH.to(sum_dtype) : sum_TH;
    sum_TH = result.sum_TH.to(at::kFloat);
    result.mean_T = sum_TH.mean(1);
    if (norm.kind == NormKind::rms) result.mean_T.zero_();
    const at::Tensor centered_TH = sum_TH - result.mean_T.unsqueeze(1);
    result.rstd_T = (centered_TH.square().mean(1) + eps).rsqrt();
    const at::Tensor normed_TH =
        centered_TH * result.rstd_T.unsqueeze(1) * norm.weight_H + bias_or_zeros(norm.bias_H, centered_TH);
    result.normed_TH = normed_TH.to(compute_dtype);
    if (keep_fp32) result.normed_fp32_TH = normed_TH;
    return result;
}

NormGradients dropout_residual_norm_backward(const NormBackwardArguments& arguments) {
    const auto& [d_normed_TH, d_residual_TH, d_sum_TH, forward, norm, dropout, rows, compute_dtype, d_norm, d_bias_H, unused] =
        arguments;
    at::Tensor dy_TH = (d_normed_TH.defined() ? d_normed_TH : d_residual_TH).to(at::kFloat);
    if (d_normed_TH.defined() && d_residual_TH.defined()) dy_TH = dy_TH + d_residual_TH.to(at::kFloat);
    const at::Tensor deviation_T1 = forward.rstd_T.unsqueeze(1);
    const at::Tensor normal_TH = (forward.sum_TH.to(at::kFloat) - forward.mean_T.unsqueeze(1)) * deviation_T1;
    d_norm.weight_H.add_((dy_TH * normal_TH).sum(0));
    if (d_norm.bias_H.defined()) d_norm.bias_H.add_(dy_TH.sum(0));
    const at::Tensor g_TH = dy_TH * norm.weight_H;
    NormGradients gradients;
    const at::Tensor centered_TH = norm.kind == NormKind::layer ? g_TH - g_TH.mean(1, true) : g_TH;
    at::Tensor gradient_TH = deviation_T1 * (centered_TH - normal_TH * (g_TH * normal_TH).mean(1, true));
    if (d_sum_TH.defined()) gradient_TH = gradient_TH + d_sum_TH.to(at::kFloat);
    gradients.sum_TH = gradient_TH.to(forward.sum_TH.scalar_type());
    if (forward.has_out) {
        const at::Tensor out_TH = dropout.active() ? gradient_TH * row_factors(dropout, rows, g_TH.size(1)) : gradient_TH;
        if (d_bias_H.defined()) d_bias_H.add_(out_TH.sum(0));
        gradients.out_TH = out_TH.to(compute_dtype);
    }
    return gradients;
}

at::Tensor dropout_rows(const at::Tensor& x_TH, const Dropout& dropout, const RowKeys& rows) {
    return dropout.active() ? x_TH * row_factors(dropout, rows, x_TH.size(1)) : x_TH;
}

at::Tensor bias_activation(const at::Tensor& x_TF, const at::Tensor& bias_F, Activation activation) {
    return activated(x_TF.to(at::kFloat) + bias_or_zeros(bias_F, x_TF), activation).to(x_TF.scalar_type());
}

at::Tensor bias_activation_backward(const at::Tensor& dy_TF, const at::Tensor& x_TF, const at::Tensor& bias_F,
                                    Activation activation, const at::Tensor& d_bias_F) {
    const at::Tensor dx_TF =
        activation_gradient(dy_TF.to(at::kFloat), x_TF.to(at::kFloat) + bias_or_zeros(bias_F, x_TF), activation);
    if (d_bias_F.defined()) d_bias_F.add_(dx_TF.sum(0));
    return dx_TF.to(x_TF.scalar_type());
}

at::Tensor gated_activation(const at::Tensor& x_T2F, Activation activation) {
    const auto halves = x_T2F.to(at::kFloat).chunk(2, 1);
    return (activated(halves[0], activation) * halves[1]).to(x_T2F.scalar_type());
}

at::Tensor gated_activation_backward(const at::Tensor& dy_TF, const at::Tensor& x_T2F, Activation activation) {
    const auto halves = x_T2F.to(at::kFloat).chunk(2, 1);
    const at::Tensor dy_fp32_TF = dy_TF.to(at::kFloat);
    return at::cat({activation_gradient(dy_fp32_TF * halves[1], halves[0], activation),
                    dy_fp32_TF * activated(halves[0], activation)},
                   1)
        .to(x_T2F.scalar_type());
}

void rotate(at::Tensor& qkv_T3H, const at::Tensor& positions_T, const Rotary& rotary) {
    const std::int64_t T = qkv_T3H.size(0), D = qkv_T3H.size(1) / 3 / rotary.heads;
    const at::Tensor angles_T1D = rotary.angles_PD.index_select(0, positions_T).unsqueeze(1);
    const auto cos_and_sin = angles_T1D.chunk(2, 2);
    const at::Tensor &cosine = cos_and_sin[0], sine = rotary.inverse ? -cos_and_sin[1] : cos_and_sin[1];
    const at::Tensor heads = qkv_T3H.view({T, 3 * rotary.heads, D}).narrow(1, 0, 2 * rotary.heads);  // of queries and keys
    const auto halves = heads.to(at::kFloat).chunk(2, 2);
    heads.copy_(at::cat({halves[0] * cosine - halves[1] * sine, halves[1] * cosine + halves[0] * sine}, 2));
}

at::Tensor embedding_sum(const at::Tensor& ids_T, const at::Tensor& positions_T, const at::Tensor& types_T,
                         const at::Tensor& word_VH, const at::Tensor& position_PH, const at::Tensor& type_KH) {
    at::Tensor sum_TH = word_VH.index_select(0, ids_T).to(at::kFloat);
    if (position_PH.defined()) sum_TH = sum_TH + position_PH.index_select(0, positions_T).to(at::kFloat);
    return type_KH.defined() ? sum_TH + type_KH.index_select(0, types_T).to(at::kFloat) : sum_TH;
}

void embedding_backward(const at::Tensor& d_sum_TH, const at::Tensor& indices_T, const at::Tensor& d_table_VH) {
    // Each sums equal indices in a fixed order on its device only: index_add_ adds row after row on the CPU, and index_put_ sorts
    // its indices on CUDA. The other one's order depends on the threads.
    if (d_table_VH.is_cpu()) d_table_VH.index_add_(0, indices_T, d_sum_TH);
    else d_table_VH.index_put_({indices_T}, d_sum_TH, /*accumulate=*/true);
}

void softmax_cross_entropy(at::Tensor& logits_MV, const at::Tensor& bias_V, const at::Tensor& labels_M, double scale,
                           const at::Tensor& d_bias_V, const at::Tensor& totals_2) {
    const at::Tensor fp32_MV = logits_MV.to(at::kFloat) + bias_V;
    const at::Tensor log_probability_MV = at::log_softmax(fp32_MV, 1);
    const at::Tensor counts_M = labels_M.ge(0), labels_M1 = labels_M.clamp_min(0).unsqueeze(1);
    const at::Tensor loss = -(log_probability_MV.gather(1, labels_M1).squeeze(1) * counts_M).to(at::kDouble).sum();
    const at::Tensor correct = (fp32_MV.gather(1, labels_M1).squeeze(1).eq(fp32_MV.amax(1)) * counts_M).to(at::kDouble).sum();
    at::Tensor d_MV = log_probability_MV.exp();
    d_MV.scatter_add_(1, labels_M1, at::full(labels_M1.sizes(), -1.0, d_MV.options()));
    d_MV.mul_(scale).mul_(counts_M.unsqueeze(1));
    d_bias_V.add_(d_MV.sum(0));
    totals_2.add_(at::stack({loss, correct}));
    logits_MV.copy_(d_MV);
}

Fp8Operand quantize(const OperandSource& source, const Quantizer& by) {
    const double largest = by.type == at::kFloat8_e4m3fn ? 448 : 57344;
    const at::Tensor x_fp32_TC = value_of(source, functions()).to(at::kFloat), largest_1 = by.largest_1;
    largest_1.copy_(at::maximum(largest_1, x_fp32_TC.abs().amax()));
    const at::Tensor rows_TC = (x_fp32_TC * by.scale_1).clamp(-largest, largest).to(by.type);
    return {rows_TC, rows_TC.t().contiguous(), {}};
}

void add_parts(const at::Tensor& parts_RN, const at::Tensor& sum_N) {
    at::Tensor total_N = parts_RN[0].to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
    for (std::int64_t r = 1; r < parts_RN.size(0); ++r) total_N.add_(parts_RN[r]);
    sum_N.copy_(total_N);
}

}  // namespace bertpretrain::reference
