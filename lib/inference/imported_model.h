#pragma once
// Loads a BERT from files that this program did not write.

#include "checkpoint/find_weights.h"
#include "inference/load_model.h"

namespace bertpretrain {

/// Reads weights in any format that find_weights supports, with the config.json next to them: of BertModel, MegatronBertModel or
/// the classes built on them. Ignores tensors that a class adds. Parameters of pooler and heads that the files lack are zero and
/// are listed in `missing`.
/// @throws CheckpointError naming the file and the tensors of the encoder that are missing or have the wrong shape
LoadedModel import_model(const FoundWeights& found, at::ScalarType compute_dtype, at::Device device);

}  // namespace bertpretrain
