#pragma once
// A BERT as transformers saves it.

#include <filesystem>

#include "inference/load_model.h"

namespace bertpretrain {

/// Whether this is a folder with a config.json of transformers.
bool is_hf_folder(const std::filesystem::path& folder);

/// Reads config.json and model.safetensors or pytorch_model.bin of BertModel, of the classes built on it, or of MegatronBert's;
/// tensors of any floating type. What a class adds of its own is left out; what ours has and the file lacks is listed in
/// `missing`, and zero.
/// @throws CheckpointError naming the file and the tensors that are missing from the encoder or have another shape
LoadedModel load_hf_model(const std::filesystem::path& folder, at::ScalarType working, at::Device device);

}  // namespace bertpretrain
