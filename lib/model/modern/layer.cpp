#include "model/modern/layer.h"

#include <ATen/ATen.h>

#include "kernels/matmul.h"

namespace bertpretrain::modern {
namespace {

/// Two dropout layers per layer: of the probabilities, and of the attention's output.
std::uint32_t site_of(std::int64_t index) { return static_cast<std::uint32_t>(2 * index); }

Rotary rotary(const LayerContext& context, std::int64_t index) {
    return {context.design.is_global(index) ? context.global_angles_PD : context.local_angles_PD, context.design.heads};
}

Attention attention_shape(const LayerContext& context, std::int64_t index) {
    const Design& design = context.design;
    const Dropout dropout{context.attention_key, site_of(index), context.drops ? design.attention_dropout : 0};
    return {
        context.batch.layout,        design.heads, dropout, design.is_global(index) ? 0 : design.window, rotary(context, index),
        context.batch.position_ids_T};
}

Dropout output_dropout(const LayerContext& context, std::int64_t index) {
    return {context.output_key, site_of(index) + 1, context.drops ? context.design.output_dropout : 0};
}

/// The end of both sublayers: dropout, residual, norm.
NormResult close_sublayer(const LayerContext& context, const RowKeys& rows, const at::Tensor& out_TH, const NormParameters& norm,
                          const Dropout& dropout, HiddenState& hidden) {
    const NormResult closed = dropout_residual_norm({.out_TH = out_TH,
                                                     .residual = hidden.residual,
                                                     .norm = norm,
                                                     .eps = context.design.eps,
                                                     .dropout = dropout,
                                                     .rows = rows,
                                                     .compute_dtype = out_TH.scalar_type()});
    hidden = {closed.normed_TH, Residual(closed.sum_TH)};
    return closed;
}

NormGradients close_sublayer_backward(const RowKeys& rows, const HiddenStateGradient& d_hidden, const NormResult& closed,
                                      const NormParameters& norm, const Dropout& dropout, const NormParameters& d_norm) {
    return dropout_residual_norm_backward({.d_normed_TH = d_hidden.normed_TH,
                                           .d_normed_fp32_TH = d_hidden.normed_fp32_TH,
                                           .d_sum_TH = d_hidden.residual_TH,
                                           .forward = closed,
                                           .norm = norm,
                                           .dropout = dropout,
                                           .rows = rows,
                                           .compute_dtype = closed.normed_TH.scalar_type(),
                                           .d_norm = d_norm});
}

RowsAfterAttention rows_after_attention(const LayerContext& context, std::int64_t index) {
    return {context.read, context.rows, index + 1 == context.design.layers};
}

}  // namespace

LayerState layer_forward(const LayerContext& context, std::int64_t index, const LayerViews& weights, const HiddenState& input,
                         HiddenState& output, const std::function<void()>& feed_forward_begins) {
    LayerState state;
    state.input = input;
    const RowsAfterAttention rows = rows_after_attention(context, index);
    output = {{}, rows.pick(input.residual)};
    state.qkv_T3H = linear_matmul(input.normed_TH, weights.qkv_weight);
    const Attention attended = attention_shape(context, index);
    rotate(state.qkv_T3H, attended.positions_T, attended.rotary);
    state.attention = attention(state.qkv_T3H, {}, attended);
    state.context_TH = rows.pick(state.attention.context_TH);
    state.after_attention = close_sublayer(context, rows.keys(), linear_matmul(state.context_TH, weights.attention_out_weight),
                                           weights.norm_after_attention, output_dropout(context, index), output);
    feed_forward_begins();
    state.intermediate_TF = linear_matmul(output.normed_TH, weights.gated_weight);
    state.activated_TF = gated_activation(state.intermediate_TF, context.design.activation);
    state.after_output = close_sublayer(context, rows.keys(), linear_matmul(state.activated_TF, weights.output_weight),
                                        weights.norm_after_output, {}, output);
    return state;
}

HiddenStateGradient layer_backward(const LayerContext& context, std::int64_t index, const LayerViews& weights,
                                   const LayerState& state, const HiddenStateGradient& d_output, const LayerViews& gradients,
                                   const std::function<void()>& feed_forward_done) {
    const RowsAfterAttention rows = rows_after_attention(context, index);
    const bool accumulate = context.accumulate_layer_gradients;
    const NormGradients d_ffn = close_sublayer_backward(rows.keys(), d_output, state.after_output, weights.norm_after_output, {},
                                                        gradients.norm_after_output);
    add_linear_weight_gradient(d_ffn.out_TH, state.activated_TF, gradients.output_weight, accumulate);
    const at::Tensor d_gated_T2F = gated_activation_backward(linear_input_gradient(d_ffn.out_TH, weights.output_weight),
                                                             state.intermediate_TF, context.design.activation);
    add_linear_weight_gradient(d_gated_T2F, state.after_attention.normed_TH, gradients.gated_weight, accumulate);
    feed_forward_done();

    const HiddenStateGradient d_middle{linear_input_gradient(d_gated_T2F, weights.gated_weight), {}, d_ffn.sum_TH};
    const NormGradients d_attention =
        close_sublayer_backward(rows.keys(), d_middle, state.after_attention, weights.norm_after_attention,
                                output_dropout(context, index), gradients.norm_after_attention);
    add_linear_weight_gradient(d_attention.out_TH, state.context_TH, gradients.attention_out_weight, accumulate);
    const at::Tensor d_context_TH =
        rows.put_back(linear_input_gradient(d_attention.out_TH, weights.attention_out_weight), context.batch);
    const at::Tensor d_qkv_T3H =
        attention_backward(d_context_TH, state.qkv_T3H, {}, state.attention, attention_shape(context, index), {});
    add_linear_weight_gradient(d_qkv_T3H, state.input.normed_TH, gradients.qkv_weight, accumulate);
    return {linear_input_gradient(d_qkv_T3H, weights.qkv_weight), {}, rows.put_back(d_attention.sum_TH, context.batch)};
}

}  // namespace bertpretrain::modern
