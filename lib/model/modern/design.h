#pragma once
// What a modern encoder computes, as its layers read it: the settings of each model_type of this room become one.

#include <cstdint>

#include "kernels/interface/fused_types.h"
#include "model/parameter_layout.h"

namespace bertpretrain::modern {

/// An encoder with rotary positions, a gated feed-forward part, norms before the sublayers, and no biases but the decoder's.
struct Design {
    std::int64_t hidden = 0, layers = 0, heads = 0, intermediate = 0, vocabulary = 0, positions = 0;
    NormKind norm = NormKind::layer;
    double eps = 0;  ///< of all norms
    Activation activation = Activation::gelu_erf;
    /// The embeddings are normed, and the residual stream begins with the result; layer 0 has no norm before its attention.
    bool norms_embeddings = true;
    /// A dense layer with GELU and norm precedes the decoder, whose weight is the word embedding's; else the decoder has its own.
    bool transforms = true;

    std::int64_t global_every = 1;  ///< layer i attends to the whole sequence if i is a multiple, else to a window
    std::int64_t window = 0;        ///< tokens on each side, in the other layers
    double global_theta = 10000, local_theta = 10000;

    double attention_dropout = 0, output_dropout = 0;  ///< of the probabilities; of the attention's output

    InitialValues initial = InitialValues::normal;  ///< of matrices; norms begin with ones, the decoder's bias with zeros
    /// ParameterSpec::deviation of the word embedding, of matrices that write to the residual stream, of the decoder, of others.
    double initial_words = 0, initial_outer = 0, initial_decoder = 0, initial_inner = 0;
    double cut_at = 0;  ///< ParameterSpec::cut_at

    bool is_global(std::int64_t layer) const { return layer % global_every == 0; }
    std::int64_t head_size() const { return hidden / heads; }
    std::int64_t local_layers() const { return layers - (layers + global_every - 1) / global_every; }
};

}  // namespace bertpretrain::modern
