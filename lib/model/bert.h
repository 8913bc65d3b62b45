#pragma once
// BERT for pretraining: kernels in order, no communication, no optimizer.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "kernels/matmul.h"
#include "model/bert_parameters.h"
#include "model/bert_views.h"
#include "model/embeddings.h"
#include "model/pretraining_heads.h"

namespace bertpretrain {

/// What the model tells whoever moves its parameters while it computes. Empty ones are not called.
struct ParameterMoves {
    /// The forward is about to read the layout's parameters from `first` on, and has not read those before it.
    std::function<void(std::size_t first)> needed;
    /// The first `count` parameters of the layout have their final gradients.
    std::function<void(std::size_t count)> final;
};

class Bert {
public:
    struct Choices {
        std::uint64_t seed = 0;                 ///< of dropout
        bool activation_checkpointing = false;  ///< keep only each layer's input, compute the rest again in the backward
    };

    /// @param parameters what it computes with and where gradients are added; must outlive it
    Bert(const BertConfig& config, const FlatParameters& parameters, const Choices& choices);

    /// One micro-batch with dropout: adds gradients to the flat buffers and losses to totals_4 (new_totals).
    /// @param sum begins: the layers' matrices have no gradients yet, all others zeros (FlatParameters::begin_gradients)
    void forward_backward(const MicroBatch& batch, const LossScale& scale, const at::Tensor& totals_4,
                          const ParameterMoves& moves, bool accumulate = true) const;

    /// Copies the layers' weights, which stay as they are from now on, as products like them best. No backward after that.
    void pack_weights();

    /// One micro-batch without dropout or gradients.
    void add_losses(const MicroBatch& batch, const at::Tensor& totals_4) const;
    Logits logits(const MicroBatch& batch) const;
    /// The encoder's output, compute_dtype, T x H.
    at::Tensor encode(const MicroBatch& batch) const;
    /// The same at each sequence's first token, compute_dtype, B x H: the last layer computes no other rows.
    at::Tensor encode_first(const MicroBatch& batch) const;
    /// The pooler's output of such rows, which the next sentence head reads: fp32, B x H.
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
