#pragma once
// Reads a model's shape from the files next to its weights.

#include <filesystem>

#include "model/bert_config.h"

namespace bertpretrain {

/// Reads Hugging Face's config.json (model_type "bert" or "megatron-bert"), or the model section of this program's settings.json.
/// @throws CheckpointError naming the file when it cannot be read or describes a model that this program does not support
BertConfig described_model(const std::filesystem::path& file);

/// Compares the settings that change what a model computes but not the shapes of its tensors: num_attention_heads, hidden_act,
/// layer_norm_eps, norm_placement. @throws ConfigError naming every one that differs
void refuse_other_arithmetic(const BertConfig& described, const BertConfig& wanted, const std::filesystem::path& file);

}  // namespace bertpretrain
