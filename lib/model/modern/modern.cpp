#include "model/modern/modern.h"

#include <stdexcept>

#include <ATen/ATen.h>

#include "kernels/packed_weight.h"
#include "model/modern/cost.h"

namespace bertpretrain {
namespace {

/// Returns Rotary::angles_PD of p theta^(-2 j / D) for positions p < P and j < D / 2. Angles are rounded to fp32 as in
/// transformers, where those of p = 8,191 differ from exact ones by up to 4e-4.
at::Tensor rotary_angles(double theta, std::int64_t positions, std::int64_t head_size, at::Device device) {
    const at::Tensor exponent_F = at::arange(0, head_size, 2, at::kLong).to(at::kFloat) / head_size;
    const at::Tensor frequency_F = 1.0 / at::pow(theta, exponent_F);
    const at::Tensor angle_PF = at::arange(positions, at::kLong).to(at::kFloat).unsqueeze(1) * frequency_F;
    // the functions of float64 give the same bits on every processor, those of fp32 do not
    const at::Tensor exact_PF = angle_PF.to(at::kDouble);
    return at::cat({exact_PF.cos(), exact_PF.sin()}, 1).to(at::kFloat).to(device);
}

}  // namespace

ModernEncoder::ModernEncoder(const ModernBertConfig& config, const FlatParameters& parameters, const ModelChoices& choices)
    : design_(design_of(config)),
      shape_(shape_of(config)),
      choices_(choices),
      weights_(modern::weight_views(config, parameters)),
      gradients_(modern::gradient_views(config, parameters)),
      global_angles_PD_(rotary_angles(design_.global_theta, design_.positions, design_.head_size(), parameters.device())),
      local_angles_PD_(rotary_angles(design_.local_theta, design_.positions, design_.head_size(), parameters.device())),
      stage_ends_(parameters_of(config).stage_ends) {}

modern::LayerContext ModernEncoder::context(const MicroBatch& batch, Wanted wanted, bool dropout) const {
    modern::LayerContext context{design_,           batch,           {batch.samples_T, batch.position_ids_T}, {},
                                 global_angles_PD_, local_angles_PD_};
    if (wanted == Wanted::heads_rows) context.read = {batch.read_rows_R, {batch.read_samples_R, batch.read_positions_R}};
    context.output_key = philox_key(choices_.seed, Purpose::hidden_dropout);
    context.attention_key = philox_key(choices_.seed, Purpose::attention_dropout);
    context.drops = dropout;
    return context;
}

HeadContext ModernEncoder::heads(const modern::LayerContext& context) const {
    return {context.batch, context.rows, design_.eps, Activation::gelu_erf};
}

NormResult ModernEncoder::embed(const modern::LayerContext& context, modern::HiddenState& output) const {
    const at::Tensor sum_TH = embedding_sum(context.batch.input_ids_T, context.batch.position_ids_T,
                                            context.batch.token_type_ids_T, weights_.word_VH, {}, {});
    const NormResult norm = dropout_residual_norm({.residual = sum_TH,
                                                   .norm = weights_.first_norm,
                                                   .eps = design_.eps,
                                                   .rows = context.rows,
                                                   .compute_dtype = weights_.word_VH.scalar_type()});
    output = {norm.normed_TH, design_.norms_embeddings ? Residual::of(norm, weights_.first_norm) : Residual(norm.sum_TH)};
    return norm;
}

void ModernEncoder::embed_backward(const modern::LayerContext& context, const NormResult& norm,
                                   const modern::HiddenStateGradient& d_output) const {
    const at::Tensor none;
    const NormGradients d =
        dropout_residual_norm_backward({.d_normed_TH = d_output.normed_TH,
                                        .d_normed_fp32_TH = design_.norms_embeddings ? d_output.residual_TH : none,
                                        .d_sum_TH = design_.norms_embeddings ? none : d_output.residual_TH,
                                        .forward = norm,
                                        .norm = weights_.first_norm,
                                        .rows = context.rows,
                                        .compute_dtype = weights_.word_VH.scalar_type(),
                                        .d_norm = gradients_.first_norm});
    embedding_backward(d.sum_TH, context.batch.input_ids_T, gradients_.word_VH);
}

void ModernEncoder::forward_backward(const MicroBatch& batch, const LossScale& scale, const LossSums& sums,
                                     const ParameterMoves& moves, bool accumulate) const {
    modern::LayerContext context = this->context(batch, Wanted::heads_rows, true);
    context.accumulate_layer_gradients = accumulate;
    const auto stage_begins = [&](std::size_t stage) {
        if (moves.needed) moves.needed(stage == 0 ? 0 : stage_ends_[stage - 1]);
    };
    const auto stage_done = [&](std::size_t stage) {
        if (moves.final) moves.final(stage_ends_[stage]);
    };
    modern::HiddenState hidden;
    const std::size_t layers = weights_.layers.size();
    stage_begins(2 * layers + 1);
    const NormResult embedded = embed(context, hidden);
    std::vector<modern::LayerState> states(layers);
    for (std::size_t i = 0; i < layers; ++i) {
        const modern::HiddenState input = hidden;
        const std::size_t feed_forward = modern::feed_forward_stage(layers, i);
        stage_begins(feed_forward + 1);
        states[i] = modern::layer_forward(context, static_cast<std::int64_t>(i), weights_.layers[i], input, hidden,
                                          [&] { stage_begins(feed_forward); });
        if (choices_.activation_checkpointing) states[i] = {input, {}, {}, {}, {}, {}, {}, {}};
    }
    stage_begins(0);
    modern::HiddenStateGradient d_hidden{
        {}, heads_forward_backward(heads(context), weights_.heads, hidden.normed_TH, scale, gradients_.heads, sums), {}};
    stage_done(0);
    hidden = {};
    for (std::size_t i = layers; i-- > 0;) {
        const auto index = static_cast<std::int64_t>(i);
        if (choices_.activation_checkpointing) {
            modern::HiddenState unused;
            states[i] = modern::layer_forward(context, index, weights_.layers[i], states[i].input, unused, [] {});
        }
        const std::size_t feed_forward = modern::feed_forward_stage(layers, i);
        d_hidden = modern::layer_backward(context, index, weights_.layers[i], states[i], d_hidden, gradients_.layers[i],
                                          [&] { stage_done(feed_forward); });
        states[i] = {};
        stage_done(feed_forward + 1);
    }
    embed_backward(context, embedded, d_hidden);
    stage_done(2 * layers + 1);
}

void ModernEncoder::pack_weights() {
    for (modern::LayerViews& layer : weights_.layers)
        for (at::Tensor* weight : {&layer.qkv_weight, &layer.attention_out_weight, &layer.gated_weight, &layer.output_weight})
            *weight = packed_weight(*weight);
    weights_.heads.transform_weight = packed_weight(weights_.heads.transform_weight);
}

at::Tensor ModernEncoder::encode(const modern::LayerContext& context) const {
    modern::HiddenState hidden;
    embed(context, hidden);
    for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
        const modern::HiddenState input = hidden;
        modern::layer_forward(context, static_cast<std::int64_t>(i), weights_.layers[i], input, hidden, [] {});
    }
    return hidden.normed_TH;
}

void ModernEncoder::add_losses(const MicroBatch& batch, const LossSums& sums) const {
    const modern::LayerContext context = this->context(batch, Wanted::heads_rows, false);
    heads_losses(heads(context), weights_.heads, encode(context), sums);
}

Logits ModernEncoder::logits(const MicroBatch& batch) const {
    const modern::LayerContext context = this->context(batch, Wanted::heads_rows, false);
    Logits logits = heads_logits(heads(context), weights_.heads, encode(context));
    logits.mlm_MV = logits.mlm_MV.narrow(0, 0, batch.masked());
    return logits;
}

at::Tensor ModernEncoder::encode(const MicroBatch& batch) const {
    return encode(context(batch, Wanted::every_row, false)).narrow(0, 0, batch.tokens());
}

at::Tensor ModernEncoder::encode_first(const MicroBatch& batch) const {
    return encode(context(batch, Wanted::heads_rows, false)).narrow(0, 0, batch.sequences());
}

at::Tensor ModernEncoder::pool(const at::Tensor&) const { throw std::logic_error("modernbert has no pooler"); }

std::unique_ptr<Model> make_model(const ModernBertConfig& config, const FlatParameters& parameters, const ModelChoices& choices) {
    return std::make_unique<ModernEncoder>(config, parameters, choices);
}

}  // namespace bertpretrain
