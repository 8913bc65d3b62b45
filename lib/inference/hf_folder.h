#pragma once
// Exports a model for transformers' from_pretrained.

#include <filesystem>

#include <nlohmann/json.hpp>

#include "inference/loaded_model.h"

namespace bertpretrain {

/// Which of a model's parts a folder holds: all that it has, or encoder and pooler alone.
enum class HfParts { all, encoder };

/// Returns the content of config.json.
nlohmann::ordered_json hf_config(const LoadedModel& model, HfParts parts = HfParts::all);

/// Whether write_hf_folder() copies the tokenizer's files, because another program wrote them, and a class of transformers gives
/// our ids from them. Where they do not name the class or the casing, tokenizer_config.json of the export does.
bool copies_tokenizer_files(const LoadedModel& model);

/// Creates the folder with config.json, model.safetensors (fp32; tied tensors once, as transformers saves them) and, where the
/// model has a vocabulary, the tokenizer's files. Reads the weights back and compares them.
/// @throws ConfigError for a model that no class of transformers computes; CheckpointError or DataError when a file cannot be
/// written or differs
void write_hf_folder(const LoadedModel& model, const std::filesystem::path& folder, HfParts parts = HfParts::all);

}  // namespace bertpretrain
