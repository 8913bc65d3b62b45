#pragma once
// ModernBERT in other programs' files: config.json and the names of parameters. The contracts are in model/architecture.h.

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "model/modern/modernbert_config.h"
#include "model/stored_names.h"

namespace bertpretrain {

/// @param json of model_type modernbert, with the fields of transformers 4 (global_rope_theta, ...) or 5 (rope_parameters,
/// layer_types) or both, which must then agree
ModernBertConfig modernbert_from_hugging_face(const nlohmann::json& json, const std::string& file);
/// The fields of transformers 4 and 5 side by side: each reads its own, and 4 takes its defaults where its own are missing.
nlohmann::ordered_json to_hugging_face(const ModernBertConfig& config, const std::string& task, std::int64_t padding_id);
std::string why_not_hugging_face(const ModernBertConfig& config);
std::string why_not_nvidia(const ModernBertConfig& config);
const NamingRules& naming_rules(const ModernBertConfig& config);
const NamingRules& exported_form(const ModernBertConfig& config);
std::string nvidia_name(const ModernBertConfig& config, const std::string& ours);
std::span<const std::string_view> arithmetic_settings(const ModernBertConfig& config);
std::span<const std::string_view> pretraining_dropout(const ModernBertConfig& config);

}  // namespace bertpretrain
