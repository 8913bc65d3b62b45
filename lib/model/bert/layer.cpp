#include "model/bert/layer.h"

#include <ATen/ATen.h>

#include "kernels/matmul.h"

namespace bertpretrain::bert {
namespace {

Attention attention_shape(const LayerContext& context, std::int64_t index) {
    return {context.batch.layout, context.config.num_attention_heads,
            context.dropout.attention(static_cast<std::uint32_t>(4 * index))};
}

Dropout sublayer_dropout(const LayerContext& context, std::int64_t index, std::uint32_t sublayer) {
    return context.dropout.hidden(static_cast<std::uint32_t>(4 * index) + 1 + sublayer);
}

RowsAfterAttention rows_after_attention(const LayerContext& context, std::int64_t index) {
    return {context.read, context.rows, index + 1 == context.config.num_hidden_layers};
}

/// The end of both sublayers: dropout, residual, LayerNorm.
NormResult close_sublayer(const LayerContext& context, const RowKeys& rows, const at::Tensor& out_TH, const at::Tensor& bias_H,
                          const NormParameters& norm, const Dropout& dropout, HiddenState& hidden) {
    const bool post = context.config.norm_placement == NormPlacement::post_ln;
    const NormResult closed = dropout_residual_norm({out_TH, bias_H, hidden.residual, norm, context.config.layer_norm_eps,
                                                     dropout, rows, out_TH.scalar_type(), /*keep_fp32=*/false});
    hidden.normed_TH = closed.normed_TH;
    hidden.residual = post ? Residual::of(closed, norm) : Residual(closed.sum_TH);
    return closed;
}

/// The backward of close_sublayer. The residual's gradient is added before the LayerNorm's backward (post-LN) or after it.
NormGradients close_sublayer_backward(const LayerContext& context, const RowKeys& rows, const HiddenStateGradient& d_hidden,
                                      const NormResult& closed, const NormParameters& norm, const Dropout& dropout,
                                      const NormParameters& d_norm, const at::Tensor& d_bias_H) {
    const bool post = context.config.norm_placement == NormPlacement::post_ln;
    const at::Tensor fp32 = d_hidden.normed_fp32_TH.defined() ? d_hidden.normed_fp32_TH
                            : post                            ? d_hidden.residual_TH
                                                              : at::Tensor();
    const at::Tensor past = post ? at::Tensor() : d_hidden.residual_TH;
    return dropout_residual_norm_backward(
        {d_hidden.normed_TH, fp32, past, closed, norm, dropout, rows, closed.normed_TH.scalar_type(), d_norm, d_bias_H});
}

}  // namespace

LayerState layer_forward(const LayerContext& context, std::int64_t index, const LayerViews& weights, const HiddenState& input,
                         HiddenState& output, const std::function<void()>& feed_forward_begins) {
    LayerState state;
    state.input = input;
    const RowsAfterAttention rows = rows_after_attention(context, index);
    output = {{}, rows.pick(input.residual)};
    state.qkv_T3H = linear_matmul(input.normed_TH, weights.qkv_weight);
    state.attention = attention(state.qkv_T3H, weights.qkv_bias, attention_shape(context, index));
    if (state.attention.biased_T3H.defined()) state.qkv_T3H = state.attention.biased_T3H;  // the backward needs only this one
    state.context_TH = rows.pick(state.attention.context_TH);
    state.after_attention =
        close_sublayer(context, rows.keys(), linear_matmul(state.context_TH, weights.attention_out_weight),
                       weights.attention_out_bias, weights.norm_after_attention, sublayer_dropout(context, index, 0), output);
    feed_forward_begins();
    state.intermediate_TF = linear_matmul(output.normed_TH, weights.intermediate_weight);
    state.activated_TF = bias_activation(state.intermediate_TF, weights.intermediate_bias, activation_of(context.config));
    state.after_output =
        close_sublayer(context, rows.keys(), linear_matmul(state.activated_TF, weights.output_weight), weights.output_bias,
                       weights.norm_after_output, sublayer_dropout(context, index, 1), output);
    return state;
}

HiddenStateGradient layer_backward(const LayerContext& context, std::int64_t index, const LayerViews& weights,
                                   const LayerState& state, const HiddenStateGradient& d_output, const LayerViews& gradients,
                                   const std::function<void()>& feed_forward_done) {
    const RowsAfterAttention rows = rows_after_attention(context, index);
    const NormGradients d_ffn =
        close_sublayer_backward(context, rows.keys(), d_output, state.after_output, weights.norm_after_output,
                                sublayer_dropout(context, index, 1), gradients.norm_after_output, gradients.output_bias);
    add_linear_weight_gradient(d_ffn.out_TH, state.activated_TF, gradients.output_weight, context.accumulate_layer_gradients);
    const at::Tensor d_intermediate_TF =
        bias_activation_backward(linear_input_gradient(d_ffn.out_TH, weights.output_weight), state.intermediate_TF,
                                 weights.intermediate_bias, activation_of(context.config), gradients.intermediate_bias);
    add_linear_weight_gradient(d_intermediate_TF, state.after_attention.normed_TH, gradients.intermediate_weight,
                               context.accumulate_layer_gradients);
    feed_forward_done();

    const HiddenStateGradient d_middle{linear_input_gradient(d_intermediate_TF, weights.intermediate_weight), {}, d_ffn.sum_TH};
    const NormGradients d_attention = close_sublayer_backward(context, rows.keys(), d_middle, state.after_attention,
                                                              weights.norm_after_attention, sublayer_dropout(context, index, 0),
                                                              gradients.norm_after_attention, gradients.attention_out_bias);
    add_linear_weight_gradient(d_attention.out_TH, state.context_TH, gradients.attention_out_weight,
                               context.accumulate_layer_gradients);
    const at::Tensor d_qkv_T3H =
        attention_backward(rows.put_back(linear_input_gradient(d_attention.out_TH, weights.attention_out_weight), context.batch),
                           state.qkv_T3H, weights.qkv_bias, state.attention, attention_shape(context, index), gradients.qkv_bias);
    add_linear_weight_gradient(d_qkv_T3H, state.input.normed_TH, gradients.qkv_weight, context.accumulate_layer_gradients);
    return {linear_input_gradient(d_qkv_T3H, weights.qkv_weight), {}, rows.put_back(d_attention.sum_TH, context.batch)};
}

}  // namespace bertpretrain::bert
