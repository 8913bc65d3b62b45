#include "model/bert/embeddings.h"

#include <ATen/ATen.h>

namespace bertpretrain::bert {

NormResult embeddings_forward(const LayerContext& context, const Views& weights, HiddenState& output) {
    const MicroBatch& batch = context.batch;
    const Dropout dropout = context.dropout.hidden(DropoutPlan::embedding_site);
    const at::ScalarType compute_dtype = weights.word_VH.scalar_type();
    const at::Tensor sum_TH = embedding_sum(batch.input_ids_T, batch.position_ids_T, batch.token_type_ids_T, weights.word_VH,
                                            weights.position_PH, weights.type_KH);
    const auto normalize = [&](const at::Tensor& x_TH, bool is_residual) {
        return dropout_residual_norm({.residual = x_TH,
                                      .norm = weights.first_norm,
                                      .eps = context.config.layer_norm_eps,
                                      .rows = context.rows,
                                      .compute_dtype = compute_dtype,
                                      .keep_fp32 = !is_residual,
                                      .sum_dtype = x_TH.scalar_type()});
    };
    if (context.config.norm_placement == NormPlacement::pre_ln) {
        NormResult norm = normalize(dropout_rows(sum_TH, dropout, context.rows).to(context.residual_dtype), true);
        output = {norm.normed_TH, norm.sum_TH};
        return norm;
    }
    NormResult norm = normalize(sum_TH, false);
    const at::Tensor hidden_TH = dropout_rows(norm.normed_fp32_TH, dropout, context.rows);
    output = {dropout.active() ? hidden_TH.to(compute_dtype) : norm.normed_TH, {}};
    if (context.config.norm_placement == NormPlacement::post_ln) output.residual = hidden_TH.to(context.residual_dtype);
    norm.normed_fp32_TH.reset();
    return norm;
}

void embeddings_backward(const LayerContext& context, const Views& weights, const NormResult& norm,
                         const HiddenStateGradient& d_output, const Views& gradients) {
    const Dropout dropout = context.dropout.hidden(DropoutPlan::embedding_site);
    const at::ScalarType compute_dtype = weights.word_VH.scalar_type();
    at::Tensor d_sum_TH;
    if (context.config.norm_placement == NormPlacement::pre_ln) {
        const NormGradients d = dropout_residual_norm_backward({.d_normed_TH = d_output.normed_TH,
                                                                .d_sum_TH = d_output.residual_TH,
                                                                .forward = norm,
                                                                .norm = weights.first_norm,
                                                                .rows = context.rows,
                                                                .compute_dtype = compute_dtype,
                                                                .d_norm = gradients.first_norm});
        d_sum_TH = dropout_rows(d.sum_TH.to(at::kFloat), dropout, context.rows);
    } else {
        at::Tensor d_hidden_TH = d_output.normed_TH.to(at::kFloat);
        if (context.config.norm_placement == NormPlacement::post_ln) d_hidden_TH = d_hidden_TH + d_output.residual_TH;
        const at::Tensor d_normed_TH = dropout_rows(d_hidden_TH, dropout, context.rows);
        d_sum_TH = dropout_residual_norm_backward({.d_residual_TH = d_normed_TH,
                                                   .forward = norm,
                                                   .norm = weights.first_norm,
                                                   .rows = context.rows,
                                                   .compute_dtype = compute_dtype,
                                                   .d_norm = gradients.first_norm})
                       .sum_TH;
    }
    embedding_backward(d_sum_TH, context.batch.input_ids_T, gradients.word_VH);
    embedding_backward(d_sum_TH, context.batch.position_ids_T, gradients.position_PH);
    embedding_backward(d_sum_TH, context.batch.token_type_ids_T, gradients.type_KH);
}

}  // namespace bertpretrain::bert
