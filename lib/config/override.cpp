#include "config/override.h"

#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

#include "config/read.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& given, const std::string& why) {
    throw ConfigError(concat("--set ", given, ": ", why, "; expected --set section.key=value"));
}

json parsed_value(const std::string& text, const std::string& given) {
    if (text.starts_with('{') || text.starts_with('[') || text.starts_with('"')) return parse_settings(text, "--set " + given);
    json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!value.is_discarded()) return value;
    value = text;
    try {
        (void)value.dump();  // the run's settings are saved as JSON, which is UTF-8
    } catch (const json::exception&) { throw ConfigError("--set: a value is not valid UTF-8; expected --set section.key=value"); }
    return value;
}

/// The run's settings are saved as JSON, which must be UTF-8.
bool is_utf8(const std::string& text) {
    const std::string replaced = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
    return replaced == json(text).dump(-1, ' ', false, json::error_handler_t::ignore);
}

void apply_override(json& settings, const std::string& given, const std::map<std::string, std::string>& renamed) {
    if (!is_utf8(given)) refuse("(unprintable)", "is not valid UTF-8");
    const std::size_t equals = given.find('=');
    if (equals == std::string::npos) refuse(given, "has no \"=\"");
    const std::string given_path = given.substr(0, equals);
    const auto current = renamed.find(given_path);
    const std::string path = current == renamed.end() ? given_path : current->second;
    if (path.empty() || path.starts_with('.') || path.ends_with('.') || path.find("..") != std::string::npos)
        refuse(given, "names no setting");
    if (settings.is_null()) settings = json::object();
    json* at = &settings;
    std::istringstream names(path);
    for (std::string name; std::getline(names, name, '.');) {
        if (!at->is_object()) refuse(given, "\"" + name + "\" would lie inside a value that is not a section");
        if (names.eof())
            for (const auto& [old_path, new_path] : renamed)
                if (new_path == path) at->erase(old_path.substr(old_path.rfind('.') + 1));
        at = &(*at)[name];
        if (at->is_null() && names.peek() != std::istringstream::traits_type::eof()) *at = json::object();
    }
    *at = parsed_value(given.substr(equals + 1), given);
}

}  // namespace

void apply_overrides(json& settings, const std::vector<std::string>& overrides,
                     const std::map<std::string, std::string>& renamed) {
    for (const std::string& given : overrides) apply_override(settings, given, renamed);
}

const json* value_at(const json& settings, const std::string& path) {
    const json* at = &settings;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        if (!at->is_object()) return nullptr;
        const auto found = at->find(path.substr(begin, end - begin));
        if (found == at->end()) return nullptr;
        at = &*found;
        begin = end + 1;
    }
    return at;
}

}  // namespace bertpretrain
