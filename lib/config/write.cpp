#include "config/write.h"

#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/strings.h"
#include "core/table.h"

namespace bertpretrain::detail {
namespace {

using nlohmann::ordered_json;

ordered_json value_json(const SettingValue& value) {
    return std::visit(
        [](const auto& typed) -> ordered_json {
            using Value = std::remove_cvref_t<decltype(typed)>;
            if constexpr (std::is_same_v<Value, std::optional<std::int64_t>>)
                return typed ? ordered_json(*typed) : ordered_json("auto");
            else if constexpr (requires { typed.has_value(); }) return typed ? ordered_json(*typed) : ordered_json();
            else return typed;
        },
        value);
}

std::string value_text(const SettingValue& value) {
    return value_json(value).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string type_text(const SettingValue& value) {
    static constexpr const char* names[] = {"true or false",   "integer",       "integer",
                                            "number",          "text",          "text or null",
                                            "list of numbers", "list of texts", "\"auto\" or integer"};
    static_assert(std::size(names) == std::variant_size_v<SettingValue>);
    return names[value.index()];
}

std::string allowed_text(const Setting& setting) {
    const std::string rule = setting.rule.text();
    if (!setting.rule.choices.empty()) return rule;
    return type_text(setting.value) + (rule.empty() ? "" : " " + rule);
}

}  // namespace

ordered_json to_json(const std::vector<Setting>& settings) {
    ordered_json out = ordered_json::object();
    for (const Setting& setting : settings) {
        ordered_json* at = &out;
        std::istringstream names(setting.path);
        for (std::string name; std::getline(names, name, '.');) at = &(*at)[name];
        *at = setting.is_section ? ordered_json::object() : value_json(setting.value);
    }
    return out;
}

/// A long text must not push a table's columns off the screen; the file has it whole.
std::string shortened(const std::string& text) {
    constexpr std::size_t longest = 60;
    return text.size() <= longest ? text : text.substr(0, longest - 3) + "...";
}

std::string settings_table(const std::vector<Setting>& settings, const std::vector<Setting>& defaults) {
    Table table({"setting", "value", ""});
    for (std::size_t i = 0; i < settings.size(); ++i) {
        if (settings[i].is_section) continue;
        table.add({settings[i].path, shortened(value_text(settings[i].value)),
                   settings[i].value == defaults[i].value ? "default" : ""});
    }
    return table.text();
}

std::string explain_settings(const std::vector<Setting>& defaults, const std::string& which) {
    std::vector<std::string> known;
    for (const Setting& setting : defaults) known.push_back(setting.path);
    if (!which.empty() && std::find(known.begin(), known.end(), which) == known.end()) {
        const auto guess = nearest_name(which, known);
        throw ConfigError(concat(which, ": no such setting", guess ? "; did you mean \"" + *guess + "\"?" : ""));
    }
    Table table({"setting", "default", "allowed", "on resume", "meaning"});
    for (const Setting& setting : defaults) {
        if (!which.empty() && setting.path != which && !setting.path.starts_with(which + ".")) continue;
        if (setting.is_section) {
            table.add({setting.path, "", "section", "", setting.meaning});
            continue;
        }
        const bool may_change = setting.resume == Resume::may_change;
        table.add({setting.path, setting.rule.is_required ? "(required)" : value_text(setting.value), allowed_text(setting),
                   may_change ? "may change" : "fixed", setting.meaning});
    }
    return table.text();
}

std::vector<Difference> compare_settings(const std::vector<Setting>& a, const std::vector<Setting>& b) {
    check(a.size() == b.size(), "two configs of one type have the same settings");
    std::vector<Difference> differences;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!a[i].is_section && a[i].value != b[i].value)
            differences.push_back({a[i].path, value_text(a[i].value), value_text(b[i].value), a[i].resume == Resume::may_change});
    return differences;
}

}  // namespace bertpretrain::detail
