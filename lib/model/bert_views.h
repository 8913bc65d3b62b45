#pragma once
// The parameters of a BERT by their role: once for weights, once for gradients. Names appear here and nowhere further up.
//
// Axes: H hidden size, F intermediate size, V vocabulary, P positions, K segment kinds. Matrices are (outputs, inputs).

#include <vector>

#include "kernels/fused_operations.h"
#include "model/bert_config.h"
#include "model/flat_parameters.h"

namespace bertpretrain {

struct LayerViews {
    at::Tensor qkv_weight, qkv_bias;  ///< (3H, H), (3H)
    at::Tensor attention_out_weight, attention_out_bias;
    NormParameters norm_after_attention;  ///< of the stream behind the attention
    at::Tensor intermediate_weight, intermediate_bias;
    at::Tensor output_weight, output_bias;
    NormParameters
        norm_after_output;  ///< of the stream behind the feed-forward part; with pre-LN the next layer's or the final one
};

struct BertViews {
    at::Tensor word_VH, position_PH, type_KH;
    NormParameters first_norm;  ///< of the embeddings; with pre-LN layer 0's own
    std::vector<LayerViews> layers;
    at::Tensor pooler_weight, pooler_bias;
    at::Tensor transform_weight, transform_bias;
    NormParameters transform_norm;
    at::Tensor decoder_bias_V;
    at::Tensor next_sentence_weight, next_sentence_bias;
};

BertViews weight_views(const BertConfig& config, const FlatParameters& parameters);
BertViews gradient_views(const BertConfig& config, const FlatParameters& parameters);

}  // namespace bertpretrain
