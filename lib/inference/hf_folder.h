#pragma once
// A model as transformers' from_pretrained reads it.

#include <filesystem>

#include <nlohmann/json.hpp>

#include "inference/load_model.h"

namespace bertpretrain {

/// config.json. For pre_ln_zero_residual, of which transformers has no class, it says what the model is and names none.
nlohmann::ordered_json hf_config(const LoadedModel& model);

/// Makes the folder: config.json, model.safetensors (fp32; tied tensors once, as transformers saves them) and, where the model
/// has a vocabulary, the tokenizer's files. The weights are read back and compared.
/// @throws ConfigError for pre_ln_zero_residual; CheckpointError or DataError when it cannot be written or reads back otherwise
void write_hf_folder(const LoadedModel& model, const std::filesystem::path& folder);

}  // namespace bertpretrain
