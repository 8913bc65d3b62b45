#pragma once
// Views of a model's parameters by role, for weights and for gradients. Code that uses these views needs no parameter names.
//
// Axes: H hidden size, F intermediate size, V vocabulary, P positions, K segment types. Matrices are (outputs, inputs).

#include <vector>

#include "kernels/fused_operations.h"
#include "model/bert/config.h"
#include "model/flat_parameters.h"
#include "model/heads.h"

namespace bertpretrain::bert {

struct LayerViews {
    at::Tensor qkv_weight, qkv_bias;  ///< (3H, H), (3H)
    at::Tensor attention_out_weight, attention_out_bias;
    NormParameters norm_after_attention;  ///< of the hidden states after the attention
    at::Tensor intermediate_weight, intermediate_bias;
    at::Tensor output_weight, output_bias;
    NormParameters
        norm_after_output;  ///< of the hidden states after the feed-forward part; with pre_ln the next layer's or the final LN
};

struct Views {
    at::Tensor word_VH, position_PH, type_KH;
    NormParameters first_norm;  ///< of the embeddings; with pre_ln the first LN of layer 0
    std::vector<LayerViews> layers;
    HeadViews heads;
};

Views weight_views(const BertConfig& config, const FlatParameters& parameters);
Views gradient_views(const BertConfig& config, const FlatParameters& parameters);

}  // namespace bertpretrain::bert
