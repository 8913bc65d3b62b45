#pragma once
// From token ids to the first layer's input, forward and backward.

#include "model/bert/layer.h"

namespace bertpretrain::bert {

/// post_ln, pre_ln_zero_residual: dropout(LN(sum)). pre_ln: residual = dropout(sum), normed = layer 0's LN of it.
/// @returns what the backward needs
NormResult embeddings_forward(const LayerContext& context, const Views& weights, HiddenState& output);
void embeddings_backward(const LayerContext& context, const Views& weights, const NormResult& norm,
                         const HiddenStateGradient& d_output, const Views& gradients);

}  // namespace bertpretrain::bert
