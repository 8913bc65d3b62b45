#pragma once
// From token ids to the first layer's input, forward and backward.

#include "model/encoder_layer.h"

namespace bertpretrain {

/// What the embeddings' backward needs.
struct EmbeddingState {
    NormResult norm;
};

/// post_ln, pre_ln_zero_residual: dropout(LN(sum)). pre_ln: residual = dropout(sum), normed = layer 0's LN of it.
EmbeddingState embeddings_forward(const LayerContext& context, const BertViews& weights, HiddenState& output);
void embeddings_backward(const LayerContext& context, const BertViews& weights, const EmbeddingState& state,
                         const HiddenStateGradient& d_output, const BertViews& gradients);

}  // namespace bertpretrain
