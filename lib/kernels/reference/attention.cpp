// Attention in plain ATen, one sequence at a time.
#include <cmath>
#include <limits>

#include <ATen/ATen.h>

#include "kernels/interface/implementations.h"
#include "kernels/reference/dropout_factors.h"

namespace bertpretrain::reference {
namespace {

/// One sequence in fp32: N heads, S positions, D features.
struct Sequence {
    at::Tensor q_NSD, k_NSD, v_NSD;  ///< q is already scaled
    at::Tensor keep_NSS;             ///< dropout factors; undefined without dropout
    at::Tensor outside_SS;           ///< true for keys that a query does not attend to; undefined without a window

    at::Tensor scores_NSS() const {
        const at::Tensor all_NSS = at::bmm(q_NSD, k_NSD.transpose(1, 2));
        return outside_SS.defined() ? all_NSS.masked_fill(outside_SS, -std::numeric_limits<float>::infinity()) : all_NSS;
    }
};

at::Tensor by_head(const at::Tensor& rows_SH, std::int64_t heads) {
    return rows_SH.reshape({rows_SH.size(0), heads, rows_SH.size(1) / heads}).transpose(0, 1).contiguous();
}

at::Tensor by_row(const at::Tensor& heads_NSD) {
    return heads_NSD.transpose(0, 1).reshape({heads_NSD.size(1), heads_NSD.size(0) * heads_NSD.size(2)});
}

/// Concatenates the sequences' rows and pads with zeros to T rows, for the rows that belong to no sequence.
at::Tensor whole_rows(const std::vector<at::Tensor>& of_sequences, std::int64_t T) {
    const at::Tensor rows_TX = at::cat(of_sequences);
    return at::constant_pad_nd(rows_TX, {0, 0, 0, T - rows_TX.size(0)}).contiguous();
}

double scaling(const at::Tensor& qkv_T3H, const Attention& shape) {
    const std::int64_t head_size = qkv_T3H.size(1) / 3 / shape.heads;
    return 1.0 / std::sqrt(static_cast<double>(head_size));
}

Sequence take(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape, std::size_t b) {
    const std::int64_t S = shape.layout.starts_B1[b + 1] - shape.layout.starts_B1[b], N = shape.heads;
    const at::Tensor rows_S3H = qkv_T3H.narrow(0, shape.layout.starts_B1[b], S).to(at::kFloat) + bias_or_zeros(bias_3H, qkv_T3H);
    const auto parts = rows_S3H.chunk(3, 1);
    Sequence sequence{by_head(parts[0], N) * scaling(qkv_T3H, shape), by_head(parts[1], N), by_head(parts[2], N), {}, {}};
    if (shape.dropout.active()) {
        const auto integers = at::TensorOptions(at::kLong).device(qkv_T3H.device());
        const at::Tensor position_R = at::arange(S, integers).repeat({N});
        const at::Tensor base_R = at::arange(N, integers).repeat_interleave(S) * std::int64_t{attention_groups_per_head};
        sequence.keep_NSS =
            dropout_factors(shape.dropout, at::full_like(position_R, shape.layout.samples_B[b]), position_R, base_R, S)
                .reshape({N, S, S});
    }
    if (shape.window > 0) {
        const at::Tensor position_S = at::arange(S, at::TensorOptions(at::kLong).device(qkv_T3H.device()));
        sequence.outside_SS = (position_S.unsqueeze(0) - position_S.unsqueeze(1)).abs().gt(shape.window);
    }
    return sequence;
}

}  // namespace

AttentionResult attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape) {
    std::vector<at::Tensor> contexts, log_sums;
    for (std::size_t b = 0; b < shape.layout.samples_B.size(); ++b) {
        const Sequence sequence = take(qkv_T3H, bias_3H, shape, b);
        const at::Tensor scores_NSS = sequence.scores_NSS();
        at::Tensor probabilities_NSS = at::softmax(scores_NSS, 2);
        if (sequence.keep_NSS.defined()) probabilities_NSS = probabilities_NSS * sequence.keep_NSS;
        contexts.push_back(by_row(at::bmm(probabilities_NSS, sequence.v_NSD)));
        log_sums.push_back(at::logsumexp(scores_NSS, {2}).transpose(0, 1));
    }
    const std::int64_t T = qkv_T3H.size(0);
    return {whole_rows(contexts, T).to(qkv_T3H.scalar_type()), whole_rows(log_sums, T)};
}

AttentionGradient attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                                     const AttentionResult&, const Attention& shape, const at::Tensor& d_bias_3H) {
    const std::int64_t H = qkv_T3H.size(1) / 3;
    std::vector<at::Tensor> gradients;
    for (std::size_t b = 0; b < shape.layout.samples_B.size(); ++b) {
        const std::int64_t first = shape.layout.starts_B1[b], S = shape.layout.starts_B1[b + 1] - first;
        const Sequence at = take(qkv_T3H, bias_3H, shape, b);
        const at::Tensor d_context_NSD = by_head(d_context_TH.narrow(0, first, S).to(at::kFloat), shape.heads);
        const at::Tensor probabilities_NSS = at::softmax(at.scores_NSS(), 2);
        const bool drops = at.keep_NSS.defined();
        const at::Tensor kept_NSS = drops ? probabilities_NSS * at.keep_NSS : probabilities_NSS;
        at::Tensor d_NSS = at::bmm(d_context_NSD, at.v_NSD.transpose(1, 2));
        if (drops) d_NSS = d_NSS * at.keep_NSS;
        const at::Tensor d_scores_NSS = probabilities_NSS * (d_NSS - (probabilities_NSS * d_NSS).sum(2, true));
        gradients.push_back(at::cat(
            {by_row(at::bmm(d_scores_NSS, at.k_NSD) * scaling(qkv_T3H, shape)),
             by_row(at::bmm(d_scores_NSS.transpose(1, 2), at.q_NSD)), by_row(at::bmm(kept_NSS.transpose(1, 2), d_context_NSD))},
            1));
    }
    const at::Tensor fp32_T3H = whole_rows(gradients, qkv_T3H.size(0));
    if (d_bias_3H.defined())
        for (const std::int64_t third : {0, 2}) d_bias_3H.narrow(0, third * H, H).add_(fp32_T3H.narrow(1, third * H, H).sum(0));
    at::Tensor d_qkv_T3H = fp32_T3H.to(qkv_T3H.scalar_type());
    if (shape.is_rotated()) rotate(d_qkv_T3H, shape.positions_T, shape.rotary.inverted());
    return {d_qkv_T3H};
}

}  // namespace bertpretrain::reference
