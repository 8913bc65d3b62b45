#pragma once
// The parameters of a BERT: their names, shapes and order.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "model/bert_config.h"
#include "model/parameter_layout.h"

namespace bertpretrain {

/// The parameter list of one configuration, in the two orders that matter.
struct BertParameters {
    /// HF's order, as in a state_dict. Post-LN and pre_ln_zero_residual have the names of HF's BertForPreTraining,
    /// pre_ln those of MegatronBertForPreTraining. Tied tensors are listed once.
    std::vector<ParameterSpec> checkpoint_order;
    /// The order of the flat buffers: decaying parameters in the order in which the backward finishes them, then the exempt ones.
    std::vector<ParameterSpec> layout_order;
    /// stage_ends[s] parameters of layout_order are final after stage s of the backward: 0 the heads, then of each layer, from
    /// the last to the first, its feed-forward part and its attention, then the embeddings (with which the exempt ones are final
    /// too).
    std::vector<std::size_t> stage_ends;
};

/// The stage of the backward in which a layer's feed-forward part is finished; its attention's is the next.
inline std::size_t feed_forward_stage(std::size_t layers, std::size_t layer) { return 2 * (layers - 1 - layer) + 1; }

BertParameters bert_parameters(const BertConfig& config);

/// The flat buffers of a model. @param bucket_mib of fp32 gradients @param shards as in ParameterLayout
ParameterLayout bert_layout(const BertConfig& config, double bucket_mib, std::int64_t shards);

/// Names under which tied tensors appear a second time in HF's state_dict: {alias, name}.
std::vector<std::pair<std::string, std::string>> tied_names();

}  // namespace bertpretrain
