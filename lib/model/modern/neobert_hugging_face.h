#pragma once
// NeoBERT in its authors' files: config.json, and the names and rows of parameters. The contracts are in model/architecture.h.
//
// The authors' class rotates neighbouring features (2 j, 2 j + 1) of a head; this program and transformers rotate features j and
// j + D / 2. Both compute the same if the rows of queries and keys change places, and each has its own order of heads.

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "model/modern/neobert_config.h"
#include "model/stored_names.h"

namespace bertpretrain {

/// @param json of model_type neobert
NeoBertConfig neobert_from_hugging_face(const nlohmann::json& json, const std::string& file);
/// transformers has no class of its own for it: auto_map names the authors' code on the hub.
nlohmann::ordered_json to_hugging_face(const NeoBertConfig& config, const std::string& task, std::int64_t padding_id);
std::string why_not_hugging_face(const NeoBertConfig& config);
std::string why_not_nvidia(const NeoBertConfig& config);
const NamingRules& naming_rules(const NeoBertConfig& config);
const NamingRules& exported_form(const NeoBertConfig& config);
std::string nvidia_name(const NeoBertConfig& config, const std::string& ours);
std::span<const std::string_view> arithmetic_settings(const NeoBertConfig& config);
std::span<const std::string_view> pretraining_dropout(const NeoBertConfig& config);

}  // namespace bertpretrain
