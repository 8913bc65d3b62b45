#include "model/bert.h"

#include <ATen/ATen.h>

#include "kernels/host_values.h"
#include "kernels/packed_weight.h"
#include "model/fill_up.h"

namespace bertpretrain {
namespace {

RowKeys row_keys(const MicroBatch& batch) {
    std::vector<std::int64_t> samples(static_cast<std::size_t>(batch.input_ids_T.numel()));
    for (std::size_t b = 0; b < batch.sample_numbers_B.size(); ++b)
        std::fill(samples.begin() + batch.starts_B1[b], samples.begin() + batch.starts_B1[b + 1], batch.sample_numbers_B[b]);
    return {copied_to(batch.input_ids_T.device(), samples).view(at::kLong), batch.position_ids_T};
}

/// The rows that the heads read, and nothing more of the last layer is computed for them.
ReadRows read_rows(const MicroBatch& batch, const RowKeys& all) {
    const std::vector<std::int64_t> first_rows(batch.starts_B1.begin(), batch.starts_B1.begin() + batch.sequences());
    at::Tensor index_R = copied_to(batch.input_ids_T.device(), first_rows).view(at::kLong);
    if (batch.masked() > 0) index_R = at::cat({index_R, batch.masked_rows_M});
    return {index_R, {all.sample_T.index_select(0, index_R), all.position_T.index_select(0, index_R)}};
}

}  // namespace

Bert::Bert(const BertConfig& config, const FlatParameters& parameters, const Choices& choices)
    : config_(config),
      choices_(choices),
      weights_(weight_views(config, parameters)),
      gradients_(gradient_views(config, parameters)),
      stage_ends_(bert_parameters(config).stage_ends) {}

LayerContext Bert::context(const MicroBatch& batch, Wanted wanted, bool dropout) const {
    LayerContext context{config_, batch, row_keys(batch), {}, {}};
    if (const at::Device device = batch.input_ids_T.device(); device.is_cuda()) {
        context.starts_B1 = copied_to(device, batch.starts_B1).view(at::kLong);
        context.samples_B = copied_to(device, batch.sample_numbers_B).view(at::kLong);
    }
    if (wanted == Wanted::heads_rows) context.read = read_rows(batch, context.rows);
    if (dropout)
        context.dropout = {philox_key(choices_.seed, Purpose::hidden_dropout),
                           philox_key(choices_.seed, Purpose::attention_dropout), config_.hidden_dropout_prob,
                           config_.attention_probs_dropout_prob};
    return context;
}

void Bert::forward_backward(const MicroBatch& batch, const LossScale& scale, const at::Tensor& totals_4,
                            const ParameterMoves& moves, bool accumulate) const {
    const MicroBatch full = fill_up(batch);
    LayerContext context = this->context(full, Wanted::heads_rows, true);
    context.accumulate_layer_gradients = accumulate;
    const auto stage_begins = [&](std::size_t stage) {
        if (moves.needed) moves.needed(stage == 0 ? 0 : stage_ends_[stage - 1]);
    };
    const auto stage_done = [&](std::size_t stage) {
        if (moves.final) moves.final(stage_ends_[stage]);
    };
    HiddenState hidden;
    const std::size_t layers = weights_.layers.size();
    stage_begins(2 * layers + 1);
    const EmbeddingState embedded = embeddings_forward(context, weights_, hidden);
    std::vector<LayerState> states(layers);
    for (std::size_t i = 0; i < layers; ++i) {
        const HiddenState input = hidden;
        const std::size_t feed_forward = feed_forward_stage(layers, i);
        stage_begins(feed_forward + 1);
        states[i] = layer_forward(context, static_cast<std::int64_t>(i), weights_.layers[i], input, hidden,
                                  [&] { stage_begins(feed_forward); });
        if (choices_.activation_checkpointing) states[i] = {input, {}, {}, {}, {}, {}, {}, {}};
    }
    stage_begins(0);
    HiddenStateGradient d_hidden{
        {}, heads_forward_backward(context, weights_, hidden.normed_TH, scale, gradients_, totals_4), {}};
    stage_done(0);
    hidden = {};
    for (std::size_t i = layers; i-- > 0;) {
        const auto index = static_cast<std::int64_t>(i);
        if (choices_.activation_checkpointing) {
            HiddenState unused;
            states[i] = layer_forward(context, index, weights_.layers[i], states[i].input, unused, [] {});
        }
        const std::size_t feed_forward = feed_forward_stage(layers, i);
        d_hidden = layer_backward(context, index, weights_.layers[i], states[i], d_hidden, gradients_.layers[i],
                                  [&] { stage_done(feed_forward); });
        states[i] = {};
        stage_done(feed_forward + 1);
    }
    embeddings_backward(context, weights_, embedded, d_hidden, gradients_);
    stage_done(2 * layers + 1);
}

void Bert::pack_weights() {
    for (LayerViews& layer : weights_.layers)
        for (at::Tensor* weight :
             {&layer.qkv_weight, &layer.attention_out_weight, &layer.intermediate_weight, &layer.output_weight})
            *weight = packed_weight(*weight);
    weights_.transform_weight = packed_weight(weights_.transform_weight);
}

at::Tensor Bert::encode(const LayerContext& context) const {
    HiddenState hidden;
    embeddings_forward(context, weights_, hidden);
    for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
        const HiddenState input = hidden;
        layer_forward(context, static_cast<std::int64_t>(i), weights_.layers[i], input, hidden, [] {});
    }
    return hidden.normed_TH;
}

void Bert::add_losses(const MicroBatch& batch, const at::Tensor& totals_4) const {
    const MicroBatch full = fill_up(batch);
    const LayerContext context = this->context(full, Wanted::heads_rows, false);
    heads_losses(context, weights_, encode(context), totals_4);
}

Logits Bert::logits(const MicroBatch& batch) const {
    const MicroBatch full = fill_up(batch);
    const LayerContext context = this->context(full, Wanted::heads_rows, false);
    Logits logits = heads_logits(context, weights_, encode(context));
    logits.mlm_MV = logits.mlm_MV.narrow(0, 0, batch.masked());
    return logits;
}

at::Tensor Bert::encode(const MicroBatch& batch) const {
    const MicroBatch full = fill_up(batch);
    return encode(context(full, Wanted::every_row, false)).narrow(0, 0, batch.tokens());
}

at::Tensor Bert::encode_first(const MicroBatch& batch) const {
    const MicroBatch full = fill_up(batch);
    return encode(context(full, Wanted::heads_rows, false)).narrow(0, 0, batch.sequences());
}

}  // namespace bertpretrain
