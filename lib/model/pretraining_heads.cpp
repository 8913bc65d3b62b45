#include "model/pretraining_heads.h"

#include <ATen/ATen.h>

#include "kernels/matmul.h"

namespace bertpretrain {
namespace {

/// The MLM head before its decoder.
struct Transformed {
    at::Tensor rows_MH, product_MH;
    NormResult norm;
};

Transformed transform(const LayerContext& context, const BertViews& weights, const at::Tensor& sequence_TH) {
    Transformed t;
    t.rows_MH = sequence_TH.index_select(0, context.batch.masked_rows_M);
    t.product_MH = linear_product(t.rows_MH, weights.transform_weight);
    const at::Tensor activated_MH = bias_activation(t.product_MH, weights.transform_bias, activation_of(context.config));
    t.norm = dropout_residual_norm({}, {}, activated_MH.to(at::kFloat), weights.transform_norm, context.config.layer_norm_eps, {},
                                   context.rows, sequence_TH.scalar_type(), false);
    return t;
}

/// The first token of every sequence: [CLS].
at::Tensor first_rows(const LayerContext& context, const at::Tensor& sequence_TH) {
    const auto& starts = context.batch.starts_B1;
    return at::tensor(at::ArrayRef<std::int64_t>(starts.data(), starts.size() - 1), at::kLong).to(sequence_TH.device());
}

at::Tensor pool(const BertViews& weights, const at::Tensor& first_BH) {
    return (linear_product(first_BH, weights.pooler_weight).to(at::kFloat) + weights.pooler_bias).tanh();
}

}  // namespace

at::Tensor new_totals(at::Device device) { return at::zeros({4}, at::TensorOptions(at::kDouble).device(device)); }

Logits heads_logits(const LayerContext& context, const BertViews& weights, const at::Tensor& sequence_TH) {
    const Transformed t = transform(context, weights, sequence_TH);
    const at::Tensor pooled_BH = pool(weights, sequence_TH.index_select(0, first_rows(context, sequence_TH)));
    return {linear_product(t.norm.normed_TH, weights.word_VH).to(at::kFloat) + weights.decoder_bias_V,
            linear_product(pooled_BH.to(sequence_TH.scalar_type()), weights.next_sentence_weight).to(at::kFloat) +
                weights.next_sentence_bias};
}

void heads_losses(const LayerContext& context, const BertViews& weights, const at::Tensor& sequence_TH,
                  const at::Tensor& totals_4) {
    Logits logits = heads_logits(context, weights, sequence_TH);
    const auto add_losses = [&](at::Tensor& logits_RV, const at::Tensor& labels_R, std::int64_t first_total) {
        const at::Tensor no_bias_V = at::zeros({logits_RV.size(1)}, logits_RV.options());
        softmax_cross_entropy(logits_RV, no_bias_V, labels_R, 0, no_bias_V.clone(), totals_4.narrow(0, first_total, 2));
    };
    if (context.batch.masked() > 0) add_losses(logits.mlm_MV, context.batch.masked_labels_M, 0);
    add_losses(logits.next_sentence_B2, context.batch.next_sentence_labels_B, 2);
}

at::Tensor heads_forward_backward(const LayerContext& context, const BertViews& weights, const at::Tensor& sequence_TH,
                                  const LossScale& scale, const BertViews& gradients, const at::Tensor& totals_4) {
    const at::ScalarType working = sequence_TH.scalar_type();
    at::Tensor d_sequence_TH = at::zeros(sequence_TH.sizes(), sequence_TH.options().dtype(at::kFloat));

    if (context.batch.masked() > 0) {
        const Transformed t = transform(context, weights, sequence_TH);
        at::Tensor logits_MV = linear_product(t.norm.normed_TH, weights.word_VH);
        softmax_cross_entropy(logits_MV, weights.decoder_bias_V, context.batch.masked_labels_M, scale.mlm,
                              gradients.decoder_bias_V, totals_4.narrow(0, 0, 2));
        add_linear_weight_gradient(logits_MV, t.norm.normed_TH, gradients.word_VH);
        const NormGradients d_norm =
            dropout_residual_norm_backward(linear_input_gradient(logits_MV, weights.word_VH), {}, {}, t.norm,
                                           weights.transform_norm, {}, context.rows, working, gradients.transform_norm, {});
        const at::Tensor d_product_MH = bias_activation_backward(d_norm.sum_TH.to(working), t.product_MH, weights.transform_bias,
                                                                 activation_of(context.config), gradients.transform_bias);
        add_linear_weight_gradient(d_product_MH, t.rows_MH, gradients.transform_weight);
        embedding_backward(linear_input_gradient(d_product_MH, weights.transform_weight).to(at::kFloat),
                           context.batch.masked_rows_M, d_sequence_TH);
    }

    const at::Tensor first_rows_B = first_rows(context, sequence_TH);
    const at::Tensor first_BH = sequence_TH.index_select(0, first_rows_B);
    const at::Tensor pooled_exact_BH = pool(weights, first_BH), pooled_BH = pooled_exact_BH.to(working);
    at::Tensor logits_B2 = linear_product(pooled_BH, weights.next_sentence_weight);
    softmax_cross_entropy(logits_B2, weights.next_sentence_bias, context.batch.next_sentence_labels_B, scale.nsp,
                          gradients.next_sentence_bias, totals_4.narrow(0, 2, 2));
    add_linear_weight_gradient(logits_B2, pooled_BH, gradients.next_sentence_weight);
    const at::Tensor d_pooled_BH = linear_input_gradient(logits_B2, weights.next_sentence_weight).to(at::kFloat);
    const at::Tensor d_pool_exact_BH = d_pooled_BH * (1 - pooled_exact_BH.square());
    at::Tensor d_pooler_bias = gradients.pooler_bias;
    d_pooler_bias.add_(d_pool_exact_BH.sum(0));
    const at::Tensor d_pool_BH = d_pool_exact_BH.to(working);
    add_linear_weight_gradient(d_pool_BH, first_BH, gradients.pooler_weight);
    embedding_backward(linear_input_gradient(d_pool_BH, weights.pooler_weight).to(at::kFloat), first_rows_B, d_sequence_TH);
    return d_sequence_TH;
}

}  // namespace bertpretrain
