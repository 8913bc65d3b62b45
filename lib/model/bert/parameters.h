#pragma once
// The parameter table of BERT.

#include <cstddef>

#include "model/bert/config.h"
#include "model/parameter_table.h"

namespace bertpretrain {

/// post_ln and pre_ln_zero_residual have the names of transformers' BertForPreTraining, pre_ln those of
/// MegatronBertForPreTraining; without next sentences, BertForMaskedLM and MegatronBertForMaskedLM. Stage 0 of the backward is
/// the heads. Then each layer, from last to first, has one stage for its feed-forward part and one for its attention. The
/// embeddings are last.
ModelParameters parameters_of(const BertConfig& config);

namespace bert {

/// Returns the stage of the backward that finishes a layer's feed-forward part; the layer's attention is the next stage.
inline std::size_t feed_forward_stage(std::size_t layers, std::size_t layer) { return 2 * (layers - 1 - layer) + 1; }

}  // namespace bert
}  // namespace bertpretrain
