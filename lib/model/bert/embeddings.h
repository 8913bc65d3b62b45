#pragma once
// From token ids to the first layer's input, forward and backward.

#include "model/bert/layer.h"

namespace bertpretrain::bert {

/// What the embeddings' backward needs.
struct EmbeddingState {
    NormResult norm;
};

/// post_ln, pre_ln_zero_residual: dropout(LN(sum)). pre_ln: residual = dropout(sum), normed = layer 0's LN of it.
EmbeddingState embeddings_forward(const LayerContext& context, const Views& weights, HiddenState& output);
void embeddings_backward(const LayerContext& context, const Views& weights, const EmbeddingState& state,
                         const HiddenStateGradient& d_output, const Views& gradients);

}  // namespace bertpretrain::bert
