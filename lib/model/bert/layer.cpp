#include "model/bert/layer.h"

#include <ATen/ATen.h>

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
/// @param quantizer of the next matmul's input
NormResult close_sublayer(const LayerContext& context, const RowKeys& rows, const at::Tensor& out_TH, const at::Tensor& bias_H,
                          const NormParameters& norm, const Dropout& dropout, const std::optional<Quantizer>& quantizer,
                          HiddenState& hidden) {
    const bool post = context.config.norm_placement == NormPlacement::post_ln;
    NormResult closed =
        dropout_residual_norm({out_TH, bias_H, hidden.residual, norm, context.config.layer_norm_eps, dropout, rows,
                               out_TH.scalar_type(), /*keep_fp32=*/false, context.residual_dtype, quantizer});
    hidden = {closed.normed_TH, post ? Residual::of(closed, norm) : Residual(closed.sum_TH), std::move(closed.normed_fp8)};
    return closed;
}

/// The backward of close_sublayer. The residual's gradient is added before the LayerNorm's backward (post-LN) or after it.
NormGradients close_sublayer_backward(const LayerContext& context, const RowKeys& rows, const HiddenStateGradient& d_hidden,
                                      const NormResult& closed, const NormParameters& norm, const Dropout& dropout,
                                      const NormParameters& d_norm, const at::Tensor& d_bias_H,
                                      const std::optional<Quantizer>& quantizer) {
    const bool post = context.config.norm_placement == NormPlacement::post_ln;
    const at::Tensor before = post ? d_hidden.residual_TH : at::Tensor(), past = post ? at::Tensor() : d_hidden.residual_TH;
    return dropout_residual_norm_backward({d_hidden.normed_TH, before, past, closed, norm, dropout, rows,
                                           d_hidden.normed_TH.scalar_type(), d_norm, d_bias_H, quantizer});
}

}  // namespace

LayerState layer_forward(const LayerContext& context, std::int64_t index, const LayerViews& weights, const HiddenState& input,
                         HiddenState& output, const std::function<void()>& feed_forward_begins) {
    LayerState state;
    state.input = input;
    const RowsAfterAttention rows = rows_after_attention(context, index);
    const LayerMatmuls before(context.fp8, index), after = before.of_rows_after_attention(rows.are_all());
    output = {{}, rows.pick(input.residual)};
    state.qkv_T3H = before.forward(LayerLinear::qkv, input.normed(), weights.qkv_weight, state.operands);
    if (before.are_fp8()) state.input.forget_normed();
    state.attention = attention(state.qkv_T3H, weights.qkv_bias, attention_shape(context, index));
    if (state.attention.biased_T3H.defined()) state.qkv_T3H = state.attention.biased_T3H;  // the backward needs only this one
    const at::Tensor attention_out_TH = after.forward(LayerLinear::attention_out, {rows.pick(state.attention.context_TH)},
                                                      weights.attention_out_weight, state.operands);
    state.after_attention = close_sublayer(context, rows.keys(), attention_out_TH, weights.attention_out_bias,
                                           weights.norm_after_attention, sublayer_dropout(context, index, 0),
                                           after.quantizer(LayerLinear::intermediate, LinearRole::input), output);
    feed_forward_begins();
    state.intermediate_TF =
        after.forward(LayerLinear::intermediate, output.normed(), weights.intermediate_weight, state.operands);
    const OperandSource activated{
        .x_TC = state.intermediate_TF, .activation = activation_of(context.config), .bias_C = weights.intermediate_bias};
    const at::Tensor out_TH = after.forward(LayerLinear::output, activated, weights.output_weight, state.operands);
    if (after.are_fp8()) state.after_attention.normed_TH.reset();
    state.after_output =
        close_sublayer(context, rows.keys(), out_TH, weights.output_bias, weights.norm_after_output,
                       sublayer_dropout(context, index, 1), before.next_input(context.config.num_hidden_layers), output);
    if (after.are_fp8()) state.after_output.normed_TH.reset();
    return state;
}

HiddenStateGradient layer_backward(const LayerContext& context, std::int64_t index, const LayerViews& weights,
                                   const LayerState& state, const HiddenStateGradient& d_output, const LayerViews& gradients,
                                   const std::function<void()>& feed_forward_done) {
    const RowsAfterAttention rows = rows_after_attention(context, index);
    const LayerMatmuls before(context.fp8, index), after = before.of_rows_after_attention(rows.are_all());
    const auto add_weight_gradient = [&](LayerLinear linear, const MatmulOperand& dy, const at::Tensor& d_weight) {
        LayerMatmuls::add_weight_gradient(linear, dy, state.operands, d_weight, context.accumulate_layer_gradients);
    };
    const NormGradients d_ffn = close_sublayer_backward(
        context, rows.keys(), d_output, state.after_output, weights.norm_after_output, sublayer_dropout(context, index, 1),
        gradients.norm_after_output, gradients.output_bias, after.quantizer(LayerLinear::output, LinearRole::gradient));
    const MatmulOperand d_out = after.gradient(LayerLinear::output, {.x_TC = d_ffn.out_TH, .rounded = d_ffn.out_fp8});
    add_weight_gradient(LayerLinear::output, d_out, gradients.output_weight);
    const MatmulOperand d_intermediate = after.gradient(
        LayerLinear::intermediate, {.x_TC = state.intermediate_TF,
                                    .activation = activation_of(context.config),
                                    .bias_C = weights.intermediate_bias,
                                    .dy_TF = LayerMatmuls::input_gradient(LayerLinear::output, d_out, state.operands),
                                    .d_bias_C = gradients.intermediate_bias});
    add_weight_gradient(LayerLinear::intermediate, d_intermediate, gradients.intermediate_weight);
    feed_forward_done();

    const HiddenStateGradient d_middle{LayerMatmuls::input_gradient(LayerLinear::intermediate, d_intermediate, state.operands),
                                       d_ffn.sum_TH};
    const NormGradients d_attention =
        close_sublayer_backward(context, rows.keys(), d_middle, state.after_attention, weights.norm_after_attention,
                                sublayer_dropout(context, index, 0), gradients.norm_after_attention, gradients.attention_out_bias,
                                after.quantizer(LayerLinear::attention_out, LinearRole::gradient));
    const MatmulOperand d_attention_out =
        after.gradient(LayerLinear::attention_out, {.x_TC = d_attention.out_TH, .rounded = d_attention.out_fp8});
    add_weight_gradient(LayerLinear::attention_out, d_attention_out, gradients.attention_out_weight);
    const auto d_context_TH = [&] {
        return rows.put_back(LayerMatmuls::input_gradient(LayerLinear::attention_out, d_attention_out, state.operands),
                             context.batch);
    };
    Attention attended = attention_shape(context, index);
    attended.quantizer = before.quantizer(LayerLinear::qkv, LinearRole::gradient);
    const AttentionGradient d_attended =
        attention_backward(d_context_TH(), state.qkv_T3H, weights.qkv_bias, state.attention, attended, gradients.qkv_bias);
    const MatmulOperand d_qkv = before.gradient(LayerLinear::qkv, {.x_TC = d_attended.qkv_T3H, .rounded = d_attended.qkv_fp8});
    add_weight_gradient(LayerLinear::qkv, d_qkv, gradients.qkv_weight);
    return {LayerMatmuls::input_gradient(LayerLinear::qkv, d_qkv, state.operands),
            rows.put_back(d_attention.sum_TH, context.batch)};
}

}  // namespace bertpretrain::bert
