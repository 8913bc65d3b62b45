#pragma once
// A BERT out of files that this program did not write.

#include "checkpoint/find_weights.h"
#include "inference/load_model.h"

namespace bertpretrain {

/// Reads the model that a config.json beside the weights describes: of BertModel, of the classes built on it, of MegatronBert's,
/// in any of the files that find_weights knows. What a class adds of its own is left out; what ours has and the files lack is
/// listed in `missing`, and zero.
/// @throws CheckpointError naming the file and the tensors that are missing from the encoder or have another shape
LoadedModel import_model(const FoundWeights& found, at::ScalarType compute_dtype, at::Device device);

}  // namespace bertpretrain
