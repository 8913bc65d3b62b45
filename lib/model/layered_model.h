#pragma once
// The order in which a model of encoder layers computes, forward and backward: when it needs parameters, and when gradients are
// final. A room derives its model from this and adds its embeddings and layers.
//
// Axes: T tokens of all sequences without padding, H hidden size, F intermediate size, B sequences. Stage 0 of the backward is
// the heads; then each layer, from last to first, has one stage for its feed-forward part and one for its attention. The
// embeddings are last.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <ATen/ops/zeros.h>

#include "kernels/fused_operations.h"
#include "model/heads.h"
#include "model/layer_matmuls.h"
#include "model/model.h"

namespace bertpretrain {

/// Returns the stage of the backward that finishes a layer's feed-forward part; the layer's attention is the next stage.
inline std::size_t feed_forward_stage(std::size_t layers, std::size_t layer) { return 2 * (layers - 1 - layer) + 1; }

/// The hidden states between layers.
struct HiddenState {
    at::Tensor normed_TH;     ///< compute dtype: input of the next matmul
    Residual residual;        ///< residual input of the next sublayer; may be undefined before layer 0
    Fp8Operand normed_fp8{};  ///< that input in fp8, if what computed it has rounded it; normed_TH is then undefined

    /// The next matmul's operand.
    OperandSource normed() const { return {.x_TC = normed_TH, .rounded = normed_fp8}; }
    void forget_normed() { normed_TH.reset(), normed_fp8 = {}; }
};

/// Gradients of a HiddenState. Before the last layer's backward only `normed` is defined.
struct HiddenStateGradient {
    at::Tensor normed_TH;    ///< compute dtype
    at::Tensor residual_TH;  ///< the residual's dtype, or undefined
};

/// The rows of the encoder's output that the heads read: the first token of each of B sequences, then M masked positions. The
/// last layer computes no others after its attention.
struct ReadRows {
    at::Tensor index_R;  ///< int64, R = B + M indices into T; undefined: all rows
    RowKeys keys;
};

/// The rows that a layer computes after its attention: all rows, or in the last layer those that the heads read.
class RowsAfterAttention {
public:
    /// @param read, all outlive this
    RowsAfterAttention(const ReadRows& read, const RowKeys& all, bool is_last_layer)
        : read_(read), all_rows_(all), all_(!read.index_R.defined() || !is_last_layer) {}

    bool are_all() const { return all_; }
    const RowKeys& keys() const { return all_ ? all_rows_ : read_.keys; }
    at::Tensor pick(const at::Tensor& x_TH) const { return all_ || !x_TH.defined() ? x_TH : x_TH.index_select(0, read_.index_R); }
    Residual pick(const Residual& residual) const { return all_ ? residual : residual.select(read_.index_R); }
    /// The backward of pick. Rows picked more than once are summed; only fillers (build_batch.h) pick rows again, with zero
    /// gradients.
    at::Tensor put_back(const at::Tensor& d_RH, const MicroBatch& batch) const {
        if (all_ || !d_RH.defined()) return d_RH;
        return at::zeros({batch.input_ids_T.numel(), d_RH.size(1)}, d_RH.options()).index_add_(0, read_.index_R, d_RH);
    }

private:
    const ReadRows& read_;
    const RowKeys& all_rows_;
    bool all_;
};

/// The inputs that all layers of a forward and backward pass share.
struct Pass {
    const MicroBatch& batch;
    RowKeys rows;
    ReadRows read;
    bool drops = false;  ///< whether dropout is active
    at::ScalarType residual_dtype = at::kFloat;
    Fp8Scales* fp8 = nullptr;                ///< null: the layers' matmuls are in the compute dtype
    bool accumulate_layer_gradients = true;  ///< false: overwrite the gradients of the layers' matrices
};

/// What a layer's backward needs; with activation checkpointing it is recomputed from the layer's input.
struct LayerState {
    HiddenState input;
    at::Tensor qkv_T3H;  ///< as attention reads it
    AttentionResult attention;
    NormResult after_attention;
    at::Tensor intermediate_TF;  ///< input of the activation; a gated one's has 2F columns
    NormResult after_output;
    LayerOperands operands;
};

class LayeredModel : public Model {
public:
    void forward_backward(const MicroBatch& batch, const LossScale& scale, const LossSums& sums, const ParameterMoves& moves,
                          bool accumulate = true) const final;
    void add_losses(const MicroBatch& batch, const LossSums& sums) const final;
    Logits logits(const MicroBatch& batch) const final;
    at::Tensor encode(const MicroBatch& batch) const final;
    at::Tensor encode_first(const MicroBatch& batch) const final;
    ModelShape shape() const final { return shape_; }
    Fp8Scales* fp8_scales() const final { return fp8_.get(); }

protected:
    /// @param stage_ends of ModelParameters
    LayeredModel(const ModelShape& shape, std::size_t layers, std::vector<std::size_t> stage_ends, const ModelChoices& choices,
                 at::Device device);

    std::uint64_t seed() const { return choices_.seed; }

private:
    /// Writes the input of layer 0. @returns what embed_backward() needs
    virtual NormResult embed(const Pass& pass, HiddenState& output) const = 0;
    virtual void embed_backward(const Pass& pass, const NormResult& embedded, const HiddenStateGradient& d_output) const = 0;
    /// @param output receives the hidden states after the layer; after the last layer only the rows that the heads read
    /// @param feed_forward_begins called before the feed-forward part's matrices are read
    virtual LayerState layer_forward(const Pass& pass, std::size_t layer, const HiddenState& input, HiddenState& output,
                                     const std::function<void()>& feed_forward_begins) const = 0;
    /// Adds the layer's parameter gradients. @returns the gradient of the layer's input
    /// @param feed_forward_done called once the gradients of the feed-forward part's matrices are complete
    virtual HiddenStateGradient layer_backward(const Pass& pass, std::size_t layer, const LayerState& state,
                                               const HiddenStateGradient& d_output,
                                               const std::function<void()>& feed_forward_done) const = 0;
    virtual HeadContext head_context(const Pass& pass) const = 0;
    virtual const HeadViews& heads() const = 0;
    virtual const HeadViews& head_gradients() const = 0;

    /// @param heads_rows whether the last layer computes only the rows that the heads read
    Pass pass_of(const MicroBatch& batch, bool heads_rows, bool drops) const;
    at::Tensor encode(const Pass& pass) const;

    ModelShape shape_;
    std::size_t layers_;
    std::vector<std::size_t> stage_ends_;
    ModelChoices choices_;
    std::unique_ptr<Fp8Scales> fp8_;
};

}  // namespace bertpretrain
