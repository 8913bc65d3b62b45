#pragma once
// BERT for pretraining.

#include <memory>

#include "model/bert/embeddings.h"
#include "model/bert/views.h"
#include "model/layered_model.h"

namespace bertpretrain {

class Bert final : public LayeredModel {
public:
    /// @param parameters the weights, and the buffers that gradients are added to; must outlive this
    Bert(const BertConfig& config, const FlatParameters& parameters, const ModelChoices& choices);

    void pack_weights() override;
    at::Tensor pool(const at::Tensor& first_BH) const override { return pool_first_rows(weights_.heads, first_BH); }

private:
    NormResult embed(const Pass& pass, HiddenState& output) const override;
    void embed_backward(const Pass& pass, const NormResult& embedded, const HiddenStateGradient& d_output) const override;
    LayerState layer_forward(const Pass& pass, std::size_t layer, const HiddenState& input, HiddenState& output,
                             const std::function<void()>& feed_forward_begins) const override;
    HiddenStateGradient layer_backward(const Pass& pass, std::size_t layer, const LayerState& state,
                                       const HiddenStateGradient& d_output,
                                       const std::function<void()>& feed_forward_done) const override;
    HeadContext head_context(const Pass& pass) const override;
    const HeadViews& heads() const override { return weights_.heads; }
    const HeadViews& head_gradients() const override { return gradients_.heads; }
    bert::LayerContext context(const Pass& pass) const;

    BertConfig config_;
    bert::Views weights_, gradients_;
};

std::unique_ptr<Model> make_model(const BertConfig& config, const FlatParameters& parameters, const ModelChoices& choices);

}  // namespace bertpretrain
