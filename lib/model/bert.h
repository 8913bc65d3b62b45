#pragma once
// BERT for pretraining: calls the kernels in order. No communication, no optimizer.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "kernels/matmul.h"
#include "model/bert_parameters.h"
#include "model/bert_views.h"
#include "model/embeddings.h"
#include "model/pretraining_heads.h"

namespace bertpretrain {

/// Callbacks for code that communicates parameters and gradients while the model computes. Empty ones are not called.
struct ParameterMoves {
    /// The forward is about to read the layout's parameters from `first` on. It has not yet read those before it.
    std::function<void(std::size_t first)> needed;
    /// The first `count` parameters of the layout have their final gradients.
    std::function<void(std::size_t count)> final;
};

class Bert {
public:
    struct Choices {
        std::uint64_t seed = 0;                 ///< for dropout
        bool activation_checkpointing = false;  ///< keep each layer's input only, and recompute the rest in the backward
    };

    /// @param parameters the weights, and the buffers that gradients are added to; must outlive this
    Bert(const BertConfig& config, const FlatParameters& parameters, const Choices& choices);

    /// One micro-batch with dropout: adds its gradients to the flat buffers and its losses to `sums`. Queues kernels only: builds
    /// nothing on the host and does not wait for the device.
    /// @param batch on the model's device, as are the batches below
    /// @param accumulate false: the gradients of the layers' matrices are overwritten; all other gradients must be zeros
    /// (FlatParameters::begin_gradients)
    void forward_backward(const MicroBatch& batch, const LossScale& scale, const LossSums& sums, const ParameterMoves& moves,
                          bool accumulate = true) const;

    /// Copies the layers' weights into the layout that matmuls run fastest with (packed_weight.h). The weights must not change
    /// afterwards, and no backward may follow.
    void pack_weights();

    /// One micro-batch without dropout and gradients: adds its losses to `sums`.
    void add_losses(const MicroBatch& batch, const LossSums& sums) const;
    Logits logits(const MicroBatch& batch) const;
    /// The encoder's output for the real tokens, compute_dtype, batch.tokens() x H.
    at::Tensor encode(const MicroBatch& batch) const;
    /// The encoder's output at each sequence's first token, compute_dtype, B x H. The last layer computes only the rows that the
    /// heads read.
    at::Tensor encode_first(const MicroBatch& batch) const;
    /// The pooler's output for such rows, fp32, B x H; the next sentence head reads it. Needs BertConfig::next_sentence.
    at::Tensor pool(const at::Tensor& first_BH) const { return pool_first_rows(weights_, first_BH); }

    const BertConfig& config() const { return config_; }

private:
    enum class Wanted { heads_rows, every_row };
    at::Tensor encode(const LayerContext& context) const;
    LayerContext context(const MicroBatch& batch, Wanted wanted, bool dropout) const;

    BertConfig config_;
    Choices choices_;
    BertViews weights_, gradients_;
    std::vector<std::size_t> stage_ends_;
};

}  // namespace bertpretrain
