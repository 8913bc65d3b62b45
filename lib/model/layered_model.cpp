#include "model/layered_model.h"

#include <utility>

namespace bertpretrain {

LayeredModel::LayeredModel(const ModelShape& shape, std::size_t layers, std::vector<std::size_t> stage_ends,
                           const ModelChoices& choices, at::Device device)
    : shape_(shape),
      layers_(layers),
      stage_ends_(std::move(stage_ends)),
      choices_(choices),
      fp8_(choices.fp8_matmuls ? std::make_unique<Fp8Scales>(static_cast<std::int64_t>(layers), device) : nullptr) {}

Pass LayeredModel::pass_of(const MicroBatch& batch, bool heads_rows, bool drops) const {
    Pass pass{batch, {batch.samples_T, batch.position_ids_T}, {}, drops};
    if (heads_rows) pass.read = {batch.read_rows_R, {batch.read_samples_R, batch.read_positions_R}};
    return pass;
}

void LayeredModel::forward_backward(const MicroBatch& batch, const LossScale& scale, const LossSums& sums,
                                    const ParameterMoves& moves, bool accumulate) const {
    Pass pass = pass_of(batch, /*heads_rows=*/true, /*drops=*/true);
    pass.accumulate_layer_gradients = accumulate;
    pass.residual_dtype = choices_.residual_dtype;
    pass.fp8 = fp8_.get();
    const auto stage_begins = [&](std::size_t stage) {
        if (moves.needed) moves.needed(stage == 0 ? 0 : stage_ends_[stage - 1]);
    };
    const auto stage_done = [&](std::size_t stage) {
        if (moves.final) moves.final(stage_ends_[stage]);
    };
    HiddenState hidden;
    stage_begins(2 * layers_ + 1);
    const NormResult embedded = embed(pass, hidden);
    std::vector<LayerState> states(layers_);
    for (std::size_t i = 0; i < layers_; ++i) {
        const HiddenState input = hidden;
        const std::size_t feed_forward = feed_forward_stage(layers_, i);
        stage_begins(feed_forward + 1);
        states[i] = layer_forward(pass, i, input, hidden, [&] { stage_begins(feed_forward); });
        if (choices_.activation_checkpointing) states[i] = {input, {}, {}, {}, {}, {}, {}};
    }
    stage_begins(0);
    HiddenStateGradient d_hidden{
        heads_forward_backward(head_context(pass), heads(), hidden.normed_TH, scale, head_gradients(), sums), {}};
    stage_done(0);
    hidden = {};
    for (std::size_t i = layers_; i-- > 0;) {
        if (choices_.activation_checkpointing) {
            HiddenState unused;
            states[i] = layer_forward(pass, i, states[i].input, unused, [] {});
        }
        const std::size_t feed_forward = feed_forward_stage(layers_, i);
        d_hidden = layer_backward(pass, i, states[i], d_hidden, [&] { stage_done(feed_forward); });
        states[i] = {};
        stage_done(feed_forward + 1);
    }
    embed_backward(pass, embedded, d_hidden);
    stage_done(2 * layers_ + 1);
}

at::Tensor LayeredModel::encode(const Pass& pass) const {
    HiddenState hidden;
    embed(pass, hidden);
    for (std::size_t i = 0; i < layers_; ++i) {
        const HiddenState input = hidden;
        layer_forward(pass, i, input, hidden, [] {});
    }
    return hidden.normed_TH;
}

void LayeredModel::add_losses(const MicroBatch& batch, const LossSums& sums) const {
    const Pass pass = pass_of(batch, /*heads_rows=*/true, /*drops=*/false);
    heads_losses(head_context(pass), heads(), encode(pass), sums);
}

Logits LayeredModel::logits(const MicroBatch& batch) const {
    const Pass pass = pass_of(batch, /*heads_rows=*/true, /*drops=*/false);
    Logits logits = heads_logits(head_context(pass), heads(), encode(pass));
    logits.mlm_MV = logits.mlm_MV.narrow(0, 0, batch.masked());
    return logits;
}

at::Tensor LayeredModel::encode(const MicroBatch& batch) const {
    return encode(pass_of(batch, /*heads_rows=*/false, /*drops=*/false)).narrow(0, 0, batch.tokens());
}

at::Tensor LayeredModel::encode_first(const MicroBatch& batch) const {
    return encode(pass_of(batch, /*heads_rows=*/true, /*drops=*/false)).narrow(0, 0, batch.sequences());
}

}  // namespace bertpretrain
