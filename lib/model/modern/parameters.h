#pragma once
// The parameter tables of the modern encoders.

#include <cstddef>
#include <string>
#include <vector>

#include "model/modern/modernbert_config.h"
#include "model/parameter_table.h"

namespace bertpretrain {

/// The names of transformers' ModernBertForMaskedLM. Stage 0 of the backward is the head; then each layer, from last to first,
/// has one stage for its feed-forward part and one for its attention. The embeddings are last.
ModelParameters parameters_of(const ModernBertConfig& config);

namespace modern {

/// Returns the stage of the backward that finishes a layer's feed-forward part; the layer's attention is the next stage.
inline std::size_t feed_forward_stage(std::size_t layers, std::size_t layer) { return 2 * (layers - 1 - layer) + 1; }

}  // namespace modern
}  // namespace bertpretrain
