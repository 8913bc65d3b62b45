#include "model/bert/bert.h"

#include <ATen/ATen.h>

#include "kernels/packed_weight.h"
#include "model/bert/cost.h"

namespace bertpretrain {

Bert::Bert(const BertConfig& config, const FlatParameters& parameters, const ModelChoices& choices)
    : config_(config),
      choices_(choices),
      weights_(bert::weight_views(config, parameters)),
      gradients_(bert::gradient_views(config, parameters)),
      stage_ends_(parameters_of(config).stage_ends) {}

bert::LayerContext Bert::context(const MicroBatch& batch, Wanted wanted, bool dropout) const {
    bert::LayerContext context{config_, batch, {batch.samples_T, batch.position_ids_T}, {}, {}};
    if (wanted == Wanted::heads_rows) context.read = {batch.read_rows_R, {batch.read_samples_R, batch.read_positions_R}};
    if (dropout)
        context.dropout = {philox_key(choices_.seed, Purpose::hidden_dropout),
                           philox_key(choices_.seed, Purpose::attention_dropout), config_.hidden_dropout_prob,
                           config_.attention_probs_dropout_prob};
    return context;
}

HeadContext Bert::heads(const bert::LayerContext& context) const {
    return {context.batch, context.rows, config_.layer_norm_eps, activation_of(config_)};
}

ModelShape Bert::shape() const { return shape_of(config_); }

void Bert::forward_backward(const MicroBatch& batch, const LossScale& scale, const LossSums& sums, const ParameterMoves& moves,
                            bool accumulate) const {
    bert::LayerContext context = this->context(batch, Wanted::heads_rows, true);
    context.accumulate_layer_gradients = accumulate;
    const auto stage_begins = [&](std::size_t stage) {
        if (moves.needed) moves.needed(stage == 0 ? 0 : stage_ends_[stage - 1]);
    };
    const auto stage_done = [&](std::size_t stage) {
        if (moves.final) moves.final(stage_ends_[stage]);
    };
    bert::HiddenState hidden;
    const std::size_t layers = weights_.layers.size();
    stage_begins(2 * layers + 1);
    const bert::EmbeddingState embedded = bert::embeddings_forward(context, weights_, hidden);
    std::vector<bert::LayerState> states(layers);
    for (std::size_t i = 0; i < layers; ++i) {
        const bert::HiddenState input = hidden;
        const std::size_t feed_forward = bert::feed_forward_stage(layers, i);
        stage_begins(feed_forward + 1);
        states[i] = bert::layer_forward(context, static_cast<std::int64_t>(i), weights_.layers[i], input, hidden,
                                        [&] { stage_begins(feed_forward); });
        if (choices_.activation_checkpointing) states[i] = {input, {}, {}, {}, {}, {}, {}, {}};
    }
    stage_begins(0);
    bert::HiddenStateGradient d_hidden{
        {}, heads_forward_backward(heads(context), weights_.heads, hidden.normed_TH, scale, gradients_.heads, sums), {}};
    stage_done(0);
    hidden = {};
    for (std::size_t i = layers; i-- > 0;) {
        const auto index = static_cast<std::int64_t>(i);
        if (choices_.activation_checkpointing) {
            bert::HiddenState unused;
            states[i] = bert::layer_forward(context, index, weights_.layers[i], states[i].input, unused, [] {});
        }
        const std::size_t feed_forward = bert::feed_forward_stage(layers, i);
        d_hidden = bert::layer_backward(context, index, weights_.layers[i], states[i], d_hidden, gradients_.layers[i],
                                        [&] { stage_done(feed_forward); });
        states[i] = {};
        stage_done(feed_forward + 1);
    }
    bert::embeddings_backward(context, weights_, embedded, d_hidden, gradients_);
    stage_done(2 * layers + 1);
}

void Bert::pack_weights() {
    for (bert::LayerViews& layer : weights_.layers)
        for (at::Tensor* weight :
             {&layer.qkv_weight, &layer.attention_out_weight, &layer.intermediate_weight, &layer.output_weight})
            *weight = packed_weight(*weight);
    weights_.heads.transform_weight = packed_weight(weights_.heads.transform_weight);
}

at::Tensor Bert::encode(const bert::LayerContext& context) const {
    bert::HiddenState hidden;
    bert::embeddings_forward(context, weights_, hidden);
    for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
        const bert::HiddenState input = hidden;
        bert::layer_forward(context, static_cast<std::int64_t>(i), weights_.layers[i], input, hidden, [] {});
    }
    return hidden.normed_TH;
}

void Bert::add_losses(const MicroBatch& batch, const LossSums& sums) const {
    const bert::LayerContext context = this->context(batch, Wanted::heads_rows, false);
    heads_losses(heads(context), weights_.heads, encode(context), sums);
}

Logits Bert::logits(const MicroBatch& batch) const {
    const bert::LayerContext context = this->context(batch, Wanted::heads_rows, false);
    Logits logits = heads_logits(heads(context), weights_.heads, encode(context));
    logits.mlm_MV = logits.mlm_MV.narrow(0, 0, batch.masked());
    return logits;
}

at::Tensor Bert::encode(const MicroBatch& batch) const {
    return encode(context(batch, Wanted::every_row, false)).narrow(0, 0, batch.tokens());
}

at::Tensor Bert::encode_first(const MicroBatch& batch) const {
    return encode(context(batch, Wanted::heads_rows, false)).narrow(0, 0, batch.sequences());
}

std::unique_ptr<Model> make_model(const BertConfig& config, const FlatParameters& parameters, const ModelChoices& choices) {
    return std::make_unique<Bert>(config, parameters, choices);
}

}  // namespace bertpretrain
