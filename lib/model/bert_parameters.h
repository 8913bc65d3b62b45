#pragma once
// The parameters of a BERT model: names, shapes and order.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "model/bert_config.h"
#include "model/parameter_layout.h"

namespace bertpretrain {

/// The parameters of one configuration, in the two orders in use.
struct BertParameters {
    /// The order of HF's state_dict. post_ln and pre_ln_zero_residual use the names of HF's BertForPreTraining, pre_ln those of
    /// MegatronBertForPreTraining; without next sentences, BertForMaskedLM and MegatronBertForMaskedLM. Tied tensors are listed
    /// once.
    std::vector<ParameterSpec> checkpoint_order;
    /// The order of the flat buffers: parameters with weight decay in the order in which the backward finishes them, then the
    /// exempt ones.
    std::vector<ParameterSpec> layout_order;
    /// stage_ends[s] parameters of layout_order are final after stage s of the backward. Stage 0 is the heads. Then each layer,
    /// from last to first, has one stage for its feed-forward part and one for its attention. The embeddings are last; with them
    /// all exempt parameters are final too.
    std::vector<std::size_t> stage_ends;
};

/// Returns the stage of the backward that finishes a layer's feed-forward part; the layer's attention is the next stage.
inline std::size_t feed_forward_stage(std::size_t layers, std::size_t layer) { return 2 * (layers - 1 - layer) + 1; }

BertParameters bert_parameters(const BertConfig& config);

/// Returns the layout of a model's flat buffers. @param bucket_mib of fp32 gradients @param shards as in ParameterLayout
ParameterLayout bert_layout(const BertConfig& config, double bucket_mib, std::int64_t shards);

/// Returns whether a parameter has a row for each token: the word embedding and the decoder's bias.
bool has_row_per_token(const std::string& name);

/// Returns whether a parameter belongs to the pooler or to the head for next sentences, which models for masked words alone lack.
bool is_next_sentence_parameter(const std::string& name);

/// Returns the second names of tied tensors in HF's state_dict: {alias, name}.
std::vector<std::pair<std::string, std::string>> tied_names();

}  // namespace bertpretrain
