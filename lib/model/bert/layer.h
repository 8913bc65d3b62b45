#pragma once
// One encoder layer, forward and backward, without autograd.
//
// Axes: T tokens of all sequences without padding, H hidden size, F intermediate size, N heads, R rows that the heads read.
// After its attention the last layer computes only those R rows; there, T stands for R.

#include <functional>

#include "model/bert/views.h"
#include "model/layered_model.h"

namespace bertpretrain::bert {

/// The dropout of one forward and backward pass, for all dropout layers of the model.
struct DropoutPlan {
    PhiloxKey hidden_key{}, attention_key{};
    double hidden_probability = 0, attention_probability = 0;

    static constexpr std::uint32_t embedding_site = 0xFFFF;
    Dropout hidden(std::uint32_t site) const { return {hidden_key, site, hidden_probability}; }
    Dropout attention(std::uint32_t site) const { return {attention_key, site, attention_probability}; }
};

/// A pass, and what the layers of this room need besides.
struct LayerContext : Pass {
    const BertConfig& config;
    DropoutPlan dropout;
};

/// As LayeredModel::layer_forward(). @param index of the layer; selects its dropout masks
LayerState layer_forward(const LayerContext& context, std::int64_t index, const LayerViews& weights, const HiddenState& input,
                         HiddenState& output, const std::function<void()>& feed_forward_begins);

/// As LayeredModel::layer_backward(). @param gradients added to
HiddenStateGradient layer_backward(const LayerContext& context, std::int64_t index, const LayerViews& weights,
                                   const LayerState& state, const HiddenStateGradient& d_output, const LayerViews& gradients,
                                   const std::function<void()>& feed_forward_done);

}  // namespace bertpretrain::bert
