#pragma once
// Views of a modern encoder's parameters by role, for weights and for gradients. Code that uses these views needs no names.
//
// Axes: H hidden size, F intermediate size, V vocabulary. Matrices are (outputs, inputs).

#include <vector>

#include "kernels/fused_operations.h"
#include "model/flat_parameters.h"
#include "model/heads.h"
#include "model/modern/design.h"

namespace bertpretrain::modern {

struct LayerViews {
    at::Tensor qkv_weight;            ///< (3H, H)
    at::Tensor attention_out_weight;  ///< (H, H)
    NormParameters norm_after_attention;
    at::Tensor gated_weight;           ///< (2F, H): what the activation is applied to, then the gate
    at::Tensor output_weight;          ///< (H, F)
    NormParameters norm_after_output;  ///< before the next layer's attention, or the final norm
};

struct Views {
    at::Tensor word_VH;
    NormParameters first_norm;  ///< of the embeddings, or before layer 0's attention (Design::norms_embeddings)
    std::vector<LayerViews> layers;
    HeadViews heads;
};

Views weight_views(const Design& design, const FlatParameters& parameters);
Views gradient_views(const Design& design, const FlatParameters& parameters);

}  // namespace bertpretrain::modern
