#pragma once
// BERT in other programs' files: config.json and the names of parameters. The contracts are in model/architecture.h.

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "model/bert/config.h"
#include "model/stored_names.h"

namespace bertpretrain {

/// The values of model_type whose models are BERT here.
std::span<const std::string_view> bert_types();
/// @param json of one of bert_types(); fields that it omits get the defaults of that type
BertConfig bert_from_hugging_face(const nlohmann::json& json, const std::string& file);
/// For pre_ln_zero_residual, which no class of transformers implements, it names the norm placement instead of a class.
nlohmann::ordered_json to_hugging_face(const BertConfig& config, const std::string& task, std::int64_t padding_id);
std::string why_not_hugging_face(const BertConfig& config);
std::string why_not_nvidia(const BertConfig& config);
const NamingRules& naming_rules(const BertConfig& config);
const NamingRules& exported_form(const BertConfig& config);
/// X.dense.Y becomes X.dense_act.Y where an activation follows: intermediate, pooler, transform of the MLM head.
std::string nvidia_name(const BertConfig& config, const std::string& ours);
std::span<const std::string_view> arithmetic_settings(const BertConfig& config);
std::span<const std::string_view> pretraining_dropout(const BertConfig& config);

}  // namespace bertpretrain
