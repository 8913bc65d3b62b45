#pragma once
// One encoder layer, forward and backward, without autograd.
//
// Axes: T tokens of all sequences without padding, H hidden size, F intermediate size, N heads, R rows that the heads read.
// Behind its attention the last layer computes those R rows only; there, T stands for R.

#include <functional>

#include "batches/micro_batch.h"
#include "kernels/fused_operations.h"
#include "kernels/matmul.h"
#include "model/bert_views.h"

namespace bertpretrain {

/// What flows from layer to layer.
struct HiddenState {
    at::Tensor normed_TH;  ///< compute_dtype: what the next product reads
    Residual residual;     ///< what the next sublayer adds to; undefined before layer 0 of pre_ln_zero_residual
};

/// Gradients of a HiddenState. Before the last layer's backward `normed` is undefined and all lies in `normed_fp32`.
struct HiddenStateGradient {
    at::Tensor normed_TH;       ///< compute_dtype, or undefined
    at::Tensor normed_fp32_TH;  ///< exact, or undefined: a further gradient of normed
    at::Tensor residual_TH;     ///< exact, or undefined
};

/// Randomness of one forward and backward pass: dropout of every place in the model.
struct DropoutPlan {
    PhiloxKey hidden_key{}, attention_key{};
    double hidden_probability = 0, attention_probability = 0;

    static constexpr std::uint32_t embedding_site = 0xFFFF;
    Dropout hidden(std::uint32_t site) const { return {hidden_key, site, hidden_probability}; }
    Dropout attention(std::uint32_t site) const { return {attention_key, site, attention_probability}; }
};

/// The rows of the encoder's output that the heads read: the first token of each of B sequences, then M masked positions.
struct ReadRows {
    at::Tensor index_R;  ///< int64, R = B + M indices into T; undefined: all rows are wanted
    RowKeys keys;
};

/// What every layer needs to know of the batch.
struct LayerContext {
    const BertConfig& config;
    const MicroBatch& batch;
    RowKeys rows;
    ReadRows read;
    DropoutPlan dropout;
    bool accumulate_layer_gradients = true;  ///< of the layers' matrices
    at::Tensor starts_B1{}, samples_B{};     ///< the batch's, int64 on a GPU, copied once for all layers; on a CPU undefined
};

/// What the backward of one layer needs; with activation checkpointing it is computed anew from the layer's input.
struct LayerState {
    HiddenState input;
    at::Tensor qkv_T3H;
    AttentionResult attention;
    at::Tensor context_TH;  ///< attention's, of the rows that the layer goes on with
    NormResult after_attention;
    at::Tensor intermediate_TF, activated_TF;
    NormResult after_output;
};

/// @param index of the layer, which keys its dropout
/// @param output receives the stream behind the layer: of the last layer, of the rows that the heads read
/// @param feed_forward_begins called before the feed-forward part's matrices are read
LayerState layer_forward(const LayerContext& context, std::int64_t index, const LayerViews& weights, const HiddenState& input,
                         HiddenState& output, const std::function<void()>& feed_forward_begins);

/// Adds the layer's parameter gradients to `gradients`. @returns the gradient of the layer's input
/// @param feed_forward_done called when the feed-forward part's matrices have their gradients
HiddenStateGradient layer_backward(const LayerContext& context, std::int64_t index, const LayerViews& weights,
                                   const LayerState& state, const HiddenStateGradient& d_output, const LayerViews& gradients,
                                   const std::function<void()>& feed_forward_done);

Activation activation_of(const BertConfig& config);

}  // namespace bertpretrain
