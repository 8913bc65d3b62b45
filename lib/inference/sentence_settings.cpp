#include "inference/sentence_settings.h"

#include <array>

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_files.h"
#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Reads a file of the model. @throws ConfigError naming a field of the table that is refused, or one that is not in it
json read_known(const fs::path& file, std::span<const ForeignField> fields, bool allows_others = false) {
    json settings = read_json(file);
    if (!settings.is_object()) throw CheckpointError(concat(file.string(), ": damaged: expected a JSON object"));
    const auto refuse = [&](const std::string& message) { throw ConfigError(concat(file.string(), ": ", message)); };
    const std::vector<std::string> others = check_foreign_fields(settings, fields, refuse);
    if (!others.empty() && !allows_others) refuse(concat("has the unknown field ", join(others)));
    return settings;
}

/// Returns the name of a flag's way of pooling; the other ways keep the flag's name.
std::string way_of(std::string_view name) {
    if (name == "pooling_mode_mean_tokens" || name == "mean") return "mean";
    return name == "pooling_mode_cls_token" || name == "cls" ? "cls" : std::string(name);
}

/// Returns the ways of a pooling module: of several, which it would concatenate, "A and B".
std::string read_pooling(const json& settings) {
    std::vector<std::string> ways;
    if (const json mode = settings.value("pooling_mode", json()); mode.is_string()) return way_of(mode.get<std::string>());
    else if (mode.is_array())
        for (const json& one : mode) ways.push_back(way_of(one.get<std::string>()));
    else
        for (const auto& [key, value] : settings.items())
            if (key.starts_with("pooling_mode_") && value == true) ways.push_back(way_of(key));
    return ways.empty() ? "mean" : join(ways, " and ");
}

/// Reads the settings of the module Transformer, under the first of the names that sentence-transformers looks for.
void read_transformer(const fs::path& folder, SentenceSettings& settings) {
    for (const char* name : {"sentence_bert_config.json", "sentence_roberta_config.json", "sentence_distilbert_config.json",
                             "sentence_camembert_config.json", "sentence_albert_config.json", "sentence_xlm-roberta_config.json",
                             "sentence_xlnet_config.json"}) {
        if (!exists_here(folder / name)) continue;
        const json own = read_known(folder / name, transformer_module_fields());
        if (const json length = own.value("max_seq_length", json()); !length.is_null())
            settings.max_length = length.get<std::int64_t>();
        if (const json lowers = own.value("do_lower_case", json()); !lowers.is_null()) settings.lowers_first = lowers.get<bool>();
        return;
    }
}

/// Reads the prompt that stands before each text unless another is asked for.
void read_prompt(const fs::path& folder, SentenceSettings& settings) {
    const fs::path file = folder / "config_sentence_transformers.json";
    if (!exists_here(file)) return;
    const json own = read_known(file, sentence_model_fields(), true);
    const json name = own.value("default_prompt_name", json());
    if (name.is_null()) return;
    const json prompts = own.value("prompts", json::object());
    if (!prompts.contains(name.get<std::string>()))
        throw ConfigError(concat(file.string(), ": default_prompt_name is ", name.dump(), ", but prompts has no such entry"));
    settings.prompt = prompts.at(name.get<std::string>()).get<std::string>();
}

void apply_module(const fs::path& folder, const json& module, bool& pools, json& pooling, SentenceSettings& settings) {
    const fs::path list = folder / "modules.json";
    const auto type = module.at("type").get<std::string>();
    const auto refuse = [&](const std::string& message) { throw ConfigError(concat(list.string(), ": ", message)); };
    if (module.contains("kwargs") && !module.at("kwargs").empty())
        refuse(concat("the module ", type, " has kwargs, which `embed` cannot apply"));
    if (type.ends_with(".Pooling")) {
        if (pools) refuse("names two modules Pooling; `embed` applies one");
        pools = true;
        const fs::path file = folder / module.at("path").get<std::string>() / "config.json";
        pooling = exists_here(file) ? read_known(file, pooling_module_fields()) : json::object();
        settings.pooling = read_pooling(pooling);
    } else if (type.ends_with(".Normalize")) {
        settings.normalizes = true;
    } else if (type.ends_with(".Transformer")) {
        if (const auto path = module.at("path").get<std::string>(); !path.empty() && path != ".")
            refuse(concat("keeps its Transformer in the folder ", path, "; this program reads it from the model's folder only",
                          "\n  do: move the files of ", path, " into ", folder.string(), ", and set the path to \"\""));
    } else if (!type.ends_with(".Dropout")) {  // Dropout acts in training only
        refuse(concat("names the module ", type, ", which `embed` cannot apply"));
    }
}

}  // namespace

std::optional<SentenceSettings> read_sentence_settings(const fs::path& folder) {
    const fs::path list = folder / "modules.json";
    if (!exists_here(list)) return std::nullopt;
    SentenceSettings settings;
    try {
        bool pools = false;
        json pooling;
        const json modules = read_json(list);
        for (const json& module : modules) apply_module(folder, module, pools, pooling, settings);
        if (!pools) throw ConfigError(concat(list.string(), ": names no module Pooling, without which there are no vectors"));
        read_transformer(folder, settings);
        read_prompt(folder, settings);
        if (!settings.prompt.empty() && pooling.value("include_prompt", true) == false)
            throw ConfigError(concat(folder.string(),
                                     ": include_prompt of its Pooling is false and default_prompt_name is set, so ",
                                     "the prompt's tokens would be left out of the mean, which `embed` cannot do"));
    } catch (const json::exception& error) {
        throw CheckpointError(concat(list.string(),
                                     ": is not the list of a sentence-transformers model, or a file that it names is ",
                                     "damaged (", error.what(), ")"));
    }
    return settings;
}

std::span<const ForeignField> transformer_module_fields() {
    using enum ForeignField::Effect;
    static constexpr auto fields = std::to_array<ForeignField>({
        {"config_args", refused, "[{}]"},
        {"config_kwargs", refused, "[{}]"},
        {"do_lower_case", obeyed},
        {"document_length", nothing},  // of models with several vectors per text
        {"max_seq_length", obeyed},
        {"modality_config", refused, R"([{"text": {"method": "forward", "method_output_name": "last_hidden_state"}}])"},
        {"model_args", refused, R"([{}, {"add_pooling_layer": false}])"},  // vectors come before the pooler
        {"model_kwargs", refused, R"([{}, {"add_pooling_layer": false}])"},
        {"module_output_name", refused, R"(["token_embeddings"])"},
        {"processing_kwargs", refused, "[{}]"},
        {"processor_kwargs", refused, "[{}]"},
        {"query_expansion", nothing},
        {"query_length", nothing},
        {"tokenizer_args", refused, "[{}]"},
        {"transformer_task", refused, R"(["feature-extraction"])"},
        {"unpad_inputs", nothing},
    });
    return fields;
}

std::span<const ForeignField> pooling_module_fields() {
    using enum ForeignField::Effect;
    static constexpr auto fields = std::to_array<ForeignField>({
        {"embedding_dimension", nothing},  // describes the vectors
        {"include_prompt", obeyed},
        {"pooling_mode", obeyed},
        {"pooling_mode_cls_token", obeyed},
        {"pooling_mode_lasttoken", obeyed},
        {"pooling_mode_max_tokens", obeyed},
        {"pooling_mode_mean_sqrt_len_tokens", obeyed},
        {"pooling_mode_mean_tokens", obeyed},
        {"pooling_mode_weightedmean_tokens", obeyed},
        {"word_embedding_dimension", nothing},
    });
    return fields;
}

std::span<const ForeignField> sentence_model_fields() {
    using enum ForeignField::Effect;
    static constexpr auto fields = std::to_array<ForeignField>({
        {"__version__", nothing},
        {"default_prompt_name", obeyed},
        {"model_type", refused, R"(["SentenceTransformer"])"},
        {"prompts", obeyed},
        {"similarity_fn_name", nothing},
        {"truncate_dim", refused, "[]"},  // read from here since sentence-transformers 6
    });
    return fields;
}

}  // namespace bertpretrain
