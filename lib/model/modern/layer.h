#pragma once
// One layer of a modern encoder, forward and backward, without autograd.
//
// Axes: T tokens of all sequences without padding, H hidden size, F intermediate size, N heads, R rows that the heads read.
// After its attention the last layer computes only those R rows; there, T stands for R.

#include <functional>

#include "model/layered_model.h"
#include "model/modern/design.h"
#include "model/modern/views.h"

namespace bertpretrain::modern {

/// A pass, and what the layers of this room need besides.
struct LayerContext : Pass {
    const Design& design;
    at::Tensor global_angles_PD, local_angles_PD;
    PhiloxKey output_key, attention_key;
};

/// As LayeredModel::layer_forward(). @param index of the layer; selects its window, its rotary angles and its dropout masks
LayerState layer_forward(const LayerContext& context, std::int64_t index, const LayerViews& weights, const HiddenState& input,
                         HiddenState& output, const std::function<void()>& feed_forward_begins);

/// As LayeredModel::layer_backward(). @param gradients added to
HiddenStateGradient layer_backward(const LayerContext& context, std::int64_t index, const LayerViews& weights,
                                   const LayerState& state, const HiddenStateGradient& d_output, const LayerViews& gradients,
                                   const std::function<void()>& feed_forward_done);

}  // namespace bertpretrain::modern
