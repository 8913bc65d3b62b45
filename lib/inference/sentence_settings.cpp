#include "inference/sentence_settings.h"

#include <nlohmann/json.hpp>

#include "checkpoint/checkpoint_files.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Returns the mode of a pooling module; of several, which it would concatenate, "A and B".
std::string read_pooling(const fs::path& file) {
    constexpr std::string_view prefix = "pooling_mode_";
    std::string chosen;
    const json settings = read_json(file);
    for (const auto& [key, value] : settings.items()) {
        if (!key.starts_with(prefix) || value != true) continue;
        const std::string mode = key == "pooling_mode_mean_tokens" ? "mean" : key == "pooling_mode_cls_token" ? "cls" : key;
        chosen += (chosen.empty() ? "" : " and ") + mode;
    }
    return chosen.empty() ? "mean" : chosen;
}

}  // namespace

std::optional<SentenceSettings> read_sentence_settings(const fs::path& folder) {
    const fs::path list = folder / "modules.json";
    if (!exists_here(list)) return std::nullopt;
    SentenceSettings settings;
    try {
        const json modules = read_json(list);
        for (const json& module : modules) {
            const auto type = module.at("type").get<std::string>();
            if (type.ends_with(".Pooling"))
                settings.pooling = read_pooling(folder / module.at("path").get<std::string>() / "config.json");
            else if (type.ends_with(".Normalize")) settings.normalizes = true;
            else if (!type.ends_with(".Transformer"))
                throw ConfigError(concat(list.string(), ": names the module ", type, ", which `embed` cannot apply"));
        }
        if (const fs::path own = folder / "sentence_bert_config.json"; exists_here(own))
            if (const json length = read_json(own).value("max_seq_length", json()); length.is_number_integer())
                settings.max_length = length.get<std::int64_t>();
    } catch (const json::exception& error) {
        throw CheckpointError(concat(list.string(), ": is not the list of a sentence-transformers model (", error.what(), ")"));
    }
    return settings;
}

}  // namespace bertpretrain
