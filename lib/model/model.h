#pragma once
// A model of any architecture, as trainer and inference call it: kernels in order. No communication, no optimizer.

#include <cstddef>
#include <cstdint>
#include <functional>

#include <ATen/core/Tensor.h>

#include "batches/micro_batch.h"
#include "kernels/proof_operation.h"
#include "model/loss_sums.h"

namespace bertpretrain {

/// What the rest of the program needs to know about a model's architecture.
struct ModelShape {
    std::int64_t hidden_size = 0, intermediate_size = 0, num_attention_heads = 0, vocab_size = 0;
    std::int64_t longest_sequence = 0;  ///< in tokens
    bool next_sentence = false;         ///< whether it has a pooler and a head for next sentences
    double attention_dropout = 0;       ///< probability
    Activation activation = Activation::gelu_erf;
    bool is_gated = false, is_rotary = false;  ///< which operations its layers use
    std::int64_t window = 0;                   ///< of its local layers; 0: it has none

    std::int64_t head_size() const { return hidden_size / num_attention_heads; }
};

/// The shape of a self-proof's inputs, derived from a model's. @param longest_sequence of the data
inline ProofShape proof_shape(const ModelShape& model, std::int64_t longest_sequence, at::ScalarType compute_dtype) {
    return {model.hidden_size, model.intermediate_size, model.num_attention_heads,
            model.vocab_size,  longest_sequence,        model.activation,
            compute_dtype,     model.is_gated,          model.is_rotary,
            model.window};
}

/// Callbacks for code that communicates parameters and gradients while the model computes. Empty ones are not called.
struct ParameterMoves {
    /// The forward is about to read the layout's parameters from `first` on. It has not yet read those before it.
    std::function<void(std::size_t first)> needed;
    /// The first `count` parameters of the layout have their final gradients.
    std::function<void(std::size_t count)> final;
};

class Fp8Scales;

struct ModelChoices {
    std::uint64_t seed = 0;                 ///< for dropout
    bool activation_checkpointing = false;  ///< keep each layer's input only, and recompute the rest in the backward
    /// Of the residual stream and its gradient in forward_backward(): NormArguments::sum_dtype.
    at::ScalarType residual_dtype = at::kFloat;
    /// Whether forward_backward() rounds the operands of the layers' matmuls to fp8, except those after the last layer's
    /// attention, which are small.
    bool fp8_matmuls = false;
};

/// fp32 logits, with biases; next_sentence_B2 is undefined in a model without that head.
struct Logits {
    at::Tensor mlm_MV, next_sentence_B2;
};

/// Its parameters must outlive it. Batches are on the model's device.
class Model {
public:
    Model() = default;
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
    virtual ~Model() = default;

    /// One micro-batch with dropout: adds its gradients to the flat buffers and its losses to `sums`. Queues kernels only: builds
    /// nothing on the host and does not wait for the device.
    /// @param accumulate false: the gradients of the layers' matrices are overwritten; all other gradients must be zeros
    /// (FlatParameters::begin_gradients)
    virtual void forward_backward(const MicroBatch& batch, const LossScale& scale, const LossSums& sums,
                                  const ParameterMoves& moves, bool accumulate = true) const = 0;

    /// Copies the layers' weights into the layout that matmuls run fastest with (packed_weight.h). The weights must not change
    /// afterwards, and no backward may follow.
    virtual void pack_weights() = 0;

    /// One micro-batch without dropout and gradients: adds its losses to `sums`.
    virtual void add_losses(const MicroBatch& batch, const LossSums& sums) const = 0;
    virtual Logits logits(const MicroBatch& batch) const = 0;
    /// The encoder's output for the real tokens, compute_dtype, batch.tokens() x H.
    virtual at::Tensor encode(const MicroBatch& batch) const = 0;
    /// The encoder's output at each sequence's first token, compute_dtype, B x H. The last layer computes only the rows that the
    /// heads read.
    virtual at::Tensor encode_first(const MicroBatch& batch) const = 0;
    /// The pooler's output for such rows, fp32, B x H; the next sentence head reads it. Needs ModelShape::next_sentence.
    virtual at::Tensor pool(const at::Tensor& first_BH) const = 0;

    virtual ModelShape shape() const = 0;

    /// The scales of operands in fp8; null: none are. A trainer begins its steps, and lets it hear of all ranks.
    virtual Fp8Scales* fp8_scales() const = 0;
};

}  // namespace bertpretrain
