#include "model/bert/bert.h"

#include "kernels/packed_weight.h"
#include "model/bert/cost.h"
#include "model/bert/parameters.h"

namespace bertpretrain {

Bert::Bert(const BertConfig& config, const FlatParameters& parameters, const ModelChoices& choices)
    : LayeredModel(shape_of(config), static_cast<std::size_t>(config.num_hidden_layers), parameters_of(config).stage_ends,
                   choices, parameters.device()),
      config_(config),
      weights_(bert::weight_views(config, parameters)),
      gradients_(bert::gradient_views(config, parameters)) {}

bert::LayerContext Bert::context(const Pass& pass) const {
    bert::LayerContext context{pass, config_, {}};
    if (pass.drops)
        context.dropout = {philox_key(seed(), Purpose::hidden_dropout), philox_key(seed(), Purpose::attention_dropout),
                           config_.hidden_dropout_prob, config_.attention_probs_dropout_prob};
    return context;
}

HeadContext Bert::head_context(const Pass& pass) const {
    return {pass.batch, pass.rows, config_.layer_norm_eps, activation_of(config_)};
}

NormResult Bert::embed(const Pass& pass, HiddenState& output) const {
    return bert::embeddings_forward(context(pass), weights_, output);
}

void Bert::embed_backward(const Pass& pass, const NormResult& embedded, const HiddenStateGradient& d_output) const {
    bert::embeddings_backward(context(pass), weights_, embedded, d_output, gradients_);
}

LayerState Bert::layer_forward(const Pass& pass, std::size_t layer, const HiddenState& input, HiddenState& output,
                               const std::function<void()>& feed_forward_begins) const {
    return bert::layer_forward(context(pass), static_cast<std::int64_t>(layer), weights_.layers[layer], input, output,
                               feed_forward_begins);
}

HiddenStateGradient Bert::layer_backward(const Pass& pass, std::size_t layer, const LayerState& state,
                                         const HiddenStateGradient& d_output,
                                         const std::function<void()>& feed_forward_done) const {
    return bert::layer_backward(context(pass), static_cast<std::int64_t>(layer), weights_.layers[layer], state, d_output,
                                gradients_.layers[layer], feed_forward_done);
}

void Bert::pack_weights() {
    for (bert::LayerViews& layer : weights_.layers)
        for (at::Tensor* weight :
             {&layer.qkv_weight, &layer.attention_out_weight, &layer.intermediate_weight, &layer.output_weight})
            *weight = packed_weight(*weight);
    weights_.heads.transform_weight = packed_weight(weights_.heads.transform_weight);
}

std::unique_ptr<Model> make_model(const BertConfig& config, const FlatParameters& parameters, const ModelChoices& choices) {
    return std::make_unique<Bert>(config, parameters, choices);
}

}  // namespace bertpretrain
