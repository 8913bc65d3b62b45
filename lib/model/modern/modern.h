#pragma once
// A modern encoder for pretraining: calls the kernels in order.

#include <cstddef>
#include <memory>
#include <vector>

#include "model/heads.h"
#include "model/model.h"
#include "model/modern/layer.h"
#include "model/modern/parameters.h"
#include "model/modern/views.h"

namespace bertpretrain {

class ModernEncoder final : public Model {
public:
    /// @param parameters the weights, and the buffers that gradients are added to; must outlive this
    ModernEncoder(const ModernBertConfig& config, const FlatParameters& parameters, const ModelChoices& choices);

    void forward_backward(const MicroBatch& batch, const LossScale& scale, const LossSums& sums, const ParameterMoves& moves,
                          bool accumulate = true) const override;
    void pack_weights() override;
    void add_losses(const MicroBatch& batch, const LossSums& sums) const override;
    Logits logits(const MicroBatch& batch) const override;
    at::Tensor encode(const MicroBatch& batch) const override;
    at::Tensor encode_first(const MicroBatch& batch) const override;
    /// @throws std::logic_error always: there is no pooler
    at::Tensor pool(const at::Tensor& first_BH) const override;
    ModelShape shape() const override { return shape_; }

private:
    enum class Wanted { heads_rows, every_row };
    at::Tensor encode(const modern::LayerContext& context) const;
    NormResult embed(const modern::LayerContext& context, modern::HiddenState& output) const;
    void embed_backward(const modern::LayerContext& context, const NormResult& norm,
                        const modern::HiddenStateGradient& d_output) const;
    modern::LayerContext context(const MicroBatch& batch, Wanted wanted, bool dropout) const;
    HeadContext heads(const modern::LayerContext& context) const;

    modern::Design design_;
    ModelShape shape_;
    ModelChoices choices_;
    modern::Views weights_, gradients_;
    at::Tensor global_angles_PD_, local_angles_PD_;
    std::vector<std::size_t> stage_ends_;
};

std::unique_ptr<Model> make_model(const ModernBertConfig& config, const FlatParameters& parameters, const ModelChoices& choices);

}  // namespace bertpretrain
