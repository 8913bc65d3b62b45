#pragma once
// Settings are read strictly: what is not understood exactly is refused, before any work begins.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "config/field.h"
#include "config/refusals.h"

namespace bertpretrain {

/// Parses JSON with `//` and `/* */` comments.
/// @param file named in messages
/// @throws ConfigError with line and column for bad syntax, naming the key for one that is set twice in one section, and for
///         more than 32 levels
nlohmann::json parse_settings(std::string_view text, const std::string& file);

/// parse_settings() of a file's content. @throws ConfigError also when the file cannot be read
nlohmann::json load_settings(const std::filesystem::path& file);

namespace detail {

/// The member `name` of a section, null when it is absent.
const nlohmann::json* find_member(const nlohmann::json& section, std::string_view name);

/// `json` as the type of `value`, without rounding or conversion, and within the rule.
/// @param where "FILE: section.key", begins every message
void read_value(SettingValue& value, const nlohmann::json& json, const Rule& rule, const std::string& where);

/// What a section that is left out holds: nothing, so that its required settings are still missed.
const nlohmann::json& empty_section();

void refuse_unless_section(const nlohmann::json& json, const std::string& where);
void refuse_unknown_names(const nlohmann::json& section, const std::vector<std::string>& known, const std::string& prefix,
                          Refusals& refusals);
[[noreturn]] void refuse_missing(const std::string& where, const Rule& rule);

template <Config T>
void read_section(T& config, const nlohmann::json& json, const std::string& prefix, Refusals& refusals);

/// Reads one member, a section or a value. @throws ConfigError
template <class Member>
void read_member(Member& member, const nlohmann::json* found, const Rule& rule, const std::string& where, Refusals& refusals) {
    if (found == nullptr && rule.is_required) refuse_missing(where, rule);
    if constexpr (Config<Member>) {
        if (found != nullptr) refuse_unless_section(*found, where);
        read_section(member, found != nullptr ? *found : empty_section(), where + ".", refusals);
    } else if (found != nullptr) {
        SettingValue value(std::in_place_type<Member>);
        read_value(value, *found, rule, where);
        member = std::get<Member>(std::move(value));
    }
}

template <Config T>
void read_section(T& config, const nlohmann::json& json, const std::string& prefix, Refusals& refusals) {
    std::vector<std::string> known;
    for_each_field(config, [&](const FieldInfo& info, auto&) { known.emplace_back(info.name); });
    refuse_unknown_names(json, known, prefix, refusals);
    for_each_field(config, [&](const FieldInfo& info, auto& member) {
        const std::string where = prefix + std::string(info.name);
        refusals.attempt([&] { read_member(member, find_member(json, info.name), info.rule, where, refusals); });
    });
}

}  // namespace detail

/// The config that `json` describes; what it leaves out keeps its default.
/// @param file named in messages
/// @throws ConfigError `FILE: section.key = VALUE: must be ...` for an unknown key (with the nearest known one), another type
///         (4.7 for an integer, 1 for a bool, null), a value outside its rule, a required key that is absent; all of them at once
template <Config T>
T read_config(const nlohmann::json& json, const std::string& file) {
    T config{};
    detail::refuse_unless_section(json, file);
    Refusals refusals;
    detail::read_section(config, json, file + ": ", refusals);
    refusals.throw_if_any();
    return config;
}

}  // namespace bertpretrain
