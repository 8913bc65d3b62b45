#pragma once
// BERT for pretraining: calls the kernels in order.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/bert/embeddings.h"
#include "model/bert/parameters.h"
#include "model/bert/views.h"
#include "model/heads.h"
#include "model/model.h"

namespace bertpretrain {

class Bert final : public Model {
public:
    /// @param parameters the weights, and the buffers that gradients are added to; must outlive this
    Bert(const BertConfig& config, const FlatParameters& parameters, const ModelChoices& choices);

    void forward_backward(const MicroBatch& batch, const LossScale& scale, const LossSums& sums, const ParameterMoves& moves,
                          bool accumulate = true) const override;
    void pack_weights() override;
    void add_losses(const MicroBatch& batch, const LossSums& sums) const override;
    Logits logits(const MicroBatch& batch) const override;
    at::Tensor encode(const MicroBatch& batch) const override;
    at::Tensor encode_first(const MicroBatch& batch) const override;
    at::Tensor pool(const at::Tensor& first_BH) const override { return pool_first_rows(weights_.heads, first_BH); }
    ModelShape shape() const override;

private:
    enum class Wanted { heads_rows, every_row };
    at::Tensor encode(const bert::LayerContext& context) const;
    bert::LayerContext context(const MicroBatch& batch, Wanted wanted, bool dropout) const;
    HeadContext heads(const bert::LayerContext& context) const;

    BertConfig config_;
    ModelChoices choices_;
    bert::Views weights_, gradients_;
    std::vector<std::size_t> stage_ends_;
};

std::unique_ptr<Model> make_model(const BertConfig& config, const FlatParameters& parameters, const ModelChoices& choices);

}  // namespace bertpretrain
