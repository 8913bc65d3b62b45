#include "model/modern/modern.h"

#include <stdexcept>

#include <ATen/ATen.h>

#include "kernels/packed_weight.h"
#include "model/modern/cost.h"
#include "model/modern/parameters.h"

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

ModernEncoder::ModernEncoder(const modern::Design& design, const FlatParameters& parameters, const ModelChoices& choices)
    : LayeredModel(modern::shape_of(design), static_cast<std::size_t>(design.layers), modern::parameters_of(design).stage_ends,
                   choices, parameters.device()),
      design_(design),
      weights_(modern::weight_views(design, parameters)),
      gradients_(modern::gradient_views(design, parameters)),
      global_angles_PD_(rotary_angles(design_.global_theta, design_.positions, design_.head_size(), parameters.device())),
      local_angles_PD_(rotary_angles(design_.local_theta, design_.positions, design_.head_size(), parameters.device())) {}

modern::LayerContext ModernEncoder::context(const Pass& pass) const {
    return {pass,
            design_,
            global_angles_PD_,
            local_angles_PD_,
            philox_key(seed(), Purpose::hidden_dropout),
            philox_key(seed(), Purpose::attention_dropout)};
}

NormResult ModernEncoder::embed(const Pass& pass, HiddenState& output) const {
    const MicroBatch& batch = pass.batch;
    const at::Tensor sum_TH =
        embedding_sum(batch.input_ids_T, batch.position_ids_T, batch.token_type_ids_T, weights_.word_VH, {}, {})
            .to(pass.residual_dtype);
    const NormResult norm = dropout_residual_norm({.residual = sum_TH,
                                                   .norm = weights_.first_norm,
                                                   .eps = design_.eps,
                                                   .rows = pass.rows,
                                                   .compute_dtype = weights_.word_VH.scalar_type(),
                                                   .sum_dtype = pass.residual_dtype});
    output = {norm.normed_TH, design_.norms_embeddings ? Residual::of(norm, weights_.first_norm) : Residual(norm.sum_TH)};
    return norm;
}

void ModernEncoder::embed_backward(const Pass& pass, const NormResult& embedded, const HiddenStateGradient& d_output) const {
    const at::Tensor none;
    const NormGradients d =
        dropout_residual_norm_backward({.d_normed_TH = d_output.normed_TH,
                                        .d_residual_TH = design_.norms_embeddings ? d_output.residual_TH : none,
                                        .d_sum_TH = design_.norms_embeddings ? none : d_output.residual_TH,
                                        .forward = embedded,
                                        .norm = weights_.first_norm,
                                        .rows = pass.rows,
                                        .compute_dtype = weights_.word_VH.scalar_type(),
                                        .d_norm = gradients_.first_norm});
    embedding_backward(d.sum_TH.to(at::kFloat), pass.batch.input_ids_T, gradients_.word_VH);
}

LayerState ModernEncoder::layer_forward(const Pass& pass, std::size_t layer, const HiddenState& input, HiddenState& output,
                                        const std::function<void()>& feed_forward_begins) const {
    return modern::layer_forward(context(pass), static_cast<std::int64_t>(layer), weights_.layers[layer], input, output,
                                 feed_forward_begins);
}

HiddenStateGradient ModernEncoder::layer_backward(const Pass& pass, std::size_t layer, const LayerState& state,
                                                  const HiddenStateGradient& d_output,
                                                  const std::function<void()>& feed_forward_done) const {
    return modern::layer_backward(context(pass), static_cast<std::int64_t>(layer), weights_.layers[layer], state, d_output,
                                  gradients_.layers[layer], feed_forward_done);
}

void ModernEncoder::pack_weights() {
    for (modern::LayerViews& layer : weights_.layers)
        for (at::Tensor* weight : {&layer.qkv_weight, &layer.attention_out_weight, &layer.gated_weight, &layer.output_weight})
            *weight = packed_weight(*weight);
    if (weights_.heads.transforms()) weights_.heads.transform_weight = packed_weight(weights_.heads.transform_weight);
}

at::Tensor ModernEncoder::pool(const at::Tensor&) const { throw std::logic_error("modern encoders have no pooler"); }

std::unique_ptr<Model> modern::make_model(const Design& design, const FlatParameters& parameters, const ModelChoices& choices) {
    return std::make_unique<ModernEncoder>(design, parameters, choices);
}

}  // namespace bertpretrain
