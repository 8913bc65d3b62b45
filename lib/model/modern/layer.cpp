#include "model/modern/layer.h"

#include <ATen/ATen.h>

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
/// @param quantizer of the next matmul's input
NormResult close_sublayer(const LayerContext& context, const RowKeys& rows, const at::Tensor& out_TH, const NormParameters& norm,
                          const Dropout& dropout, const std::optional<Quantizer>& quantizer, HiddenState& hidden) {
    NormResult closed = dropout_residual_norm({.out_TH = out_TH,
                                               .residual = hidden.residual,
                                               .norm = norm,
                                               .eps = context.design.eps,
                                               .dropout = dropout,
                                               .rows = rows,
                                               .compute_dtype = out_TH.scalar_type(),
                                               .sum_dtype = context.residual_dtype,
                                               .quantizer = quantizer});
    hidden = {closed.normed_TH, Residual(closed.sum_TH), std::move(closed.normed_fp8)};
    return closed;
}

NormGradients close_sublayer_backward(const RowKeys& rows, const HiddenStateGradient& d_hidden, const NormResult& closed,
                                      const NormParameters& norm, const Dropout& dropout, const NormParameters& d_norm,
                                      const std::optional<Quantizer>& quantizer) {
    return dropout_residual_norm_backward({.d_normed_TH = d_hidden.normed_TH,
                                           .d_sum_TH = d_hidden.residual_TH,
                                           .forward = closed,
                                           .norm = norm,
                                           .dropout = dropout,
                                           .rows = rows,
                                           .compute_dtype = d_hidden.normed_TH.scalar_type(),
                                           .d_norm = d_norm,
                                           .quantizer = quantizer});
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
    const LayerMatmuls before(context.fp8, index), after = before.of_rows_after_attention(rows.are_all());
    output = {{}, rows.pick(input.residual)};
    state.qkv_T3H = before.forward(LayerLinear::qkv, input.normed(), weights.qkv_weight, state.operands);
    if (before.are_fp8()) state.input.forget_normed();
    const Attention attended = attention_shape(context, index);
    rotate(state.qkv_T3H, attended.positions_T, attended.rotary);
    state.attention = attention(state.qkv_T3H, {}, attended);
    const at::Tensor attention_out_TH = after.forward(LayerLinear::attention_out, {rows.pick(state.attention.context_TH)},
                                                      weights.attention_out_weight, state.operands);
    state.after_attention =
        close_sublayer(context, rows.keys(), attention_out_TH, weights.norm_after_attention, output_dropout(context, index),
                       after.quantizer(LayerLinear::intermediate, LinearRole::input), output);
    feed_forward_begins();
    state.intermediate_TF = after.forward(LayerLinear::intermediate, output.normed(), weights.gated_weight, state.operands);
    const OperandSource activated{.x_TC = state.intermediate_TF, .activation = context.design.activation, .is_gated = true};
    const at::Tensor out_TH = after.forward(LayerLinear::output, activated, weights.output_weight, state.operands);
    if (after.are_fp8()) state.after_attention.normed_TH.reset();
    state.after_output = close_sublayer(context, rows.keys(), out_TH, weights.norm_after_output, {},
                                        before.next_input(context.design.layers), output);
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
    const NormGradients d_ffn =
        close_sublayer_backward(rows.keys(), d_output, state.after_output, weights.norm_after_output, {},
                                gradients.norm_after_output, after.quantizer(LayerLinear::output, LinearRole::gradient));
    const MatmulOperand d_out = after.gradient(LayerLinear::output, {.x_TC = d_ffn.out_TH, .rounded = d_ffn.out_fp8});
    add_weight_gradient(LayerLinear::output, d_out, gradients.output_weight);
    const MatmulOperand d_gated = after.gradient(
        LayerLinear::intermediate, {.x_TC = state.intermediate_TF,
                                    .activation = context.design.activation,
                                    .is_gated = true,
                                    .dy_TF = LayerMatmuls::input_gradient(LayerLinear::output, d_out, state.operands)});
    add_weight_gradient(LayerLinear::intermediate, d_gated, gradients.gated_weight);
    feed_forward_done();

    const HiddenStateGradient d_middle{LayerMatmuls::input_gradient(LayerLinear::intermediate, d_gated, state.operands),
                                       d_ffn.sum_TH};
    const NormGradients d_attention = close_sublayer_backward(
        rows.keys(), d_middle, state.after_attention, weights.norm_after_attention, output_dropout(context, index),
        gradients.norm_after_attention, after.quantizer(LayerLinear::attention_out, LinearRole::gradient));
    const MatmulOperand d_attention_out =
        after.gradient(LayerLinear::attention_out, {.x_TC = d_attention.out_TH, .rounded = d_attention.out_fp8});
    add_weight_gradient(LayerLinear::attention_out, d_attention_out, gradients.attention_out_weight);
    const at::Tensor d_context_TH =
        rows.put_back(LayerMatmuls::input_gradient(LayerLinear::attention_out, d_attention_out, state.operands), context.batch);
    Attention attended = attention_shape(context, index);
    attended.quantizer = before.quantizer(LayerLinear::qkv, LinearRole::gradient);
    const AttentionGradient d_attended = attention_backward(d_context_TH, state.qkv_T3H, {}, state.attention, attended, {});
    const MatmulOperand d_qkv = before.gradient(LayerLinear::qkv, {.x_TC = d_attended.qkv_T3H, .rounded = d_attended.qkv_fp8});
    add_weight_gradient(LayerLinear::qkv, d_qkv, gradients.qkv_weight);
    return {LayerMatmuls::input_gradient(LayerLinear::qkv, d_qkv, state.operands),
            rows.put_back(d_attention.sum_TH, context.batch)};
}

}  // namespace bertpretrain::modern
