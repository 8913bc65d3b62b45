#pragma once
// The shape of a model as the files beside its weights describe it.

#include <filesystem>

#include "model/bert_config.h"

namespace bertpretrain {

/// Reads Hugging Face's config.json (model_type "bert" or "megatron-bert"), or the model section of this program's settings.json.
/// @throws CheckpointError naming the file when it cannot be read, or describes a model that is not one of ours
BertConfig described_model(const std::filesystem::path& file);

/// @throws ConfigError naming every setting that changes what a model computes without changing its tensors, and differs:
///         num_attention_heads, hidden_act, layer_norm_eps, norm_placement
void refuse_other_arithmetic(const BertConfig& described, const BertConfig& wanted, const std::filesystem::path& file);

}  // namespace bertpretrain
