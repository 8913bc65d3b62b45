#pragma once
// A modern encoder for pretraining.

#include <memory>

#include "model/layered_model.h"
#include "model/modern/layer.h"
#include "model/modern/views.h"

namespace bertpretrain {

class ModernEncoder final : public LayeredModel {
public:
    /// @param parameters the weights, and the buffers that gradients are added to; must outlive this
    ModernEncoder(const modern::Design& design, const FlatParameters& parameters, const ModelChoices& choices);

    void pack_weights() override;
    /// @throws std::logic_error always: there is no pooler
    at::Tensor pool(const at::Tensor& first_BH) const override;

private:
    NormResult embed(const Pass& pass, HiddenState& output) const override;
    void embed_backward(const Pass& pass, const NormResult& embedded, const HiddenStateGradient& d_output) const override;
    LayerState layer_forward(const Pass& pass, std::size_t layer, const HiddenState& input, HiddenState& output,
                             const std::function<void()>& feed_forward_begins) const override;
    HiddenStateGradient layer_backward(const Pass& pass, std::size_t layer, const LayerState& state,
                                       const HiddenStateGradient& d_output,
                                       const std::function<void()>& feed_forward_done) const override;
    HeadContext head_context(const Pass& pass) const override { return {pass.batch, pass.rows, design_.eps}; }
    const HeadViews& heads() const override { return weights_.heads; }
    const HeadViews& head_gradients() const override { return gradients_.heads; }
    modern::LayerContext context(const Pass& pass) const;

    modern::Design design_;
    modern::Views weights_, gradients_;
    at::Tensor global_angles_PD_, local_angles_PD_;
};

namespace modern {
std::unique_ptr<Model> make_model(const Design& design, const FlatParameters& parameters, const ModelChoices& choices);
}

}  // namespace bertpretrain
