#pragma once
// One layer of a modern encoder, forward and backward, without autograd.
//
// Axes: T tokens of all sequences without padding, H hidden size, F intermediate size, N heads, R rows that the heads read.
// After its attention the last layer computes only those R rows; there, T stands for R.

#include <functional>

#include "batches/micro_batch.h"
#include "kernels/fused_operations.h"
#include "kernels/matmul.h"
#include "model/modern/design.h"
#include "model/modern/views.h"
#include "model/read_rows.h"

namespace bertpretrain::modern {

/// The hidden states between layers.
struct HiddenState {
    at::Tensor normed_TH;  ///< compute dtype: input of the next matmul
    Residual residual;     ///< residual input of the next sublayer
};

/// Gradients of a HiddenState. Before the last layer's backward only `normed_fp32` is defined.
struct HiddenStateGradient {
    at::Tensor normed_TH;       ///< compute dtype, or undefined
    at::Tensor normed_fp32_TH;  ///< fp32, or undefined: added to normed_TH
    at::Tensor residual_TH;     ///< fp32, or undefined
};

/// The inputs that all layers share.
struct LayerContext {
    const Design& design;
    const MicroBatch& batch;
    RowKeys rows;
    ReadRows read;
    at::Tensor global_angles_PD, local_angles_PD;
    PhiloxKey output_key{}, attention_key{};
    bool drops = false;                      ///< whether dropout is active
    bool accumulate_layer_gradients = true;  ///< false: overwrite the gradients of the layers' matrices
};

/// What a layer's backward needs; with activation checkpointing it is recomputed from the layer's input.
struct LayerState {
    HiddenState input;
    at::Tensor qkv_T3H;  ///< rotated
    AttentionResult attention;
    at::Tensor context_TH;  ///< attention's output at the rows that the rest of the layer computes
    NormResult after_attention;
    at::Tensor gated_T2F, activated_TF;
    NormResult after_output;
};

/// @param index of the layer; selects its window, its rotary angles and its dropout masks
/// @param output receives the hidden states after the layer; after the last layer only the rows that the heads read
/// @param feed_forward_begins called before the feed-forward part's matrices are read
LayerState layer_forward(const LayerContext& context, std::int64_t index, const LayerViews& weights, const HiddenState& input,
                         HiddenState& output, const std::function<void()>& feed_forward_begins);

/// Adds the layer's parameter gradients to `gradients`. @returns the gradient of the layer's input
/// @param feed_forward_done called once the gradients of the feed-forward part's matrices are complete
HiddenStateGradient layer_backward(const LayerContext& context, std::int64_t index, const LayerViews& weights,
                                   const LayerState& state, const HiddenStateGradient& d_output, const LayerViews& gradients,
                                   const std::function<void()>& feed_forward_done);

}  // namespace bertpretrain::modern
