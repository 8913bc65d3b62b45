#include "plan/inherited_model.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "checkpoint/described_model.h"
#include "checkpoint/find_weights.h"
#include "config/write.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

using nlohmann::json;

constexpr const char *type_key = "model_type", *rows_key = "vocab_size";

/// Returns initialization.init_from; "" where it is absent or no text.
std::string init_from_of(const json& settings) {
    const json path = settings.is_object() ? settings.value(json::json_pointer("/initialization/init_from"), json()) : json();
    return path.is_string() ? path.get<std::string>() : "";
}

bool may_be_of(const json& section, const json& model) {
    return !section.contains(type_key) || section[type_key] == model[type_key];
}

/// Whether the section names every setting of an architecture. model_type may be absent.
bool is_complete(const json& section) {
    return std::ranges::any_of(ModelConfig::variants(), [&](const ModelConfig& variant) {
        const json all = write_config(variant);
        const auto is_named = [&](const auto& item) { return item.key() == type_key || section.contains(item.key()); };
        return may_be_of(section, all) && std::ranges::all_of(all.items(), is_named);
    });
}

void guess_type(json& section) {
    for (const ModelConfig& variant : ModelConfig::variants()) {
        const json all = write_config(variant);
        const auto is_its_own = [&](const auto& item) { return all.contains(item.key()); };
        if (section.contains(type_key) || !std::ranges::all_of(section.items(), is_its_own)) continue;
        section[type_key] = all[type_key];
    }
}

}  // namespace

InheritedModel inherit_model(json& settings) {
    InheritedModel inherited;
    const std::string path = init_from_of(settings);
    json section = settings.is_object() ? settings.value("model", json::object()) : json();
    if (path.empty() || !section.is_object() || is_complete(section)) return inherited;
    try {
        const FoundWeights found = find_weights(path);
        if (!found.model) return inherited;
        const ModelConfig model = described_model(*found.model);
        const json all = write_config(model);
        if (!may_be_of(section, all)) return inherited;
        inherited.vocab_size = shape_of(model).vocab_size;
        inherited.is_of_run = found.checkpoint.has_value();
        for (const auto& [name, value] : all.items()) {
            if (name == rows_key || section.contains(name)) continue;
            section[name] = value;
            inherited.paths.push_back("model." + name);
        }
    } catch (const Error&) {
        inherited.unread = std::current_exception();
        guess_type(section);
    }
    settings["model"] = section;
    return inherited;
}

}  // namespace bertpretrain
