#pragma once
// Reads a model's shape from the files next to its weights.

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/architecture.h"

namespace bertpretrain {

/// Returns the model that a run with these settings trains. Without data.objective, as older versions wrote them, it predicts
/// next sentences. @param where names the settings' source in messages
/// @throws nlohmann::json::exception without a model section, ConfigError when that is not valid
ModelConfig trained_model(const nlohmann::ordered_json& settings, const std::string& where);

/// Reads Hugging Face's config.json, or this program's settings.json. Which heads exist is
/// known only from the latter.
/// @throws CheckpointError naming the file when it cannot be read or describes a model that this program does not support
ModelConfig described_model(const std::filesystem::path& file);

/// Returns a line for each setting that decides the shapes or the number of tensors and differs:
/// "model.hidden_size: 768 in the file, 1024 in this experiment". Not those that only change how many tokens or positions there
/// are, which an import may adapt. Returns none for models of different types.
std::vector<std::string> differing_shapes(const ModelConfig& described, const ModelConfig& wanted);

/// Returns a line for each setting that changes what a model computes but not the shapes of its tensors, and differs:
/// "model.layer_norm_eps: 1e-05 in PLACE_A, 1e-12 in PLACE_B".
std::vector<std::string> differing_arithmetic(const ModelConfig& a, const ModelConfig& b, const std::string& place_a,
                                              const std::string& place_b);

/// Compares the settings that change what a model computes but not the shapes of its tensors.
/// @param may_change  names of settings that may differ
/// @throws ConfigError naming every other one that differs, then also those of differing_shapes(); or a name in may_change that
/// is none of these settings
void refuse_other_arithmetic(const ModelConfig& described, const ModelConfig& wanted, const std::filesystem::path& file,
                             const std::vector<std::string>& may_change = {});

}  // namespace bertpretrain
