#pragma once
// Reads settings strictly: an unknown key or a value of the wrong type is an error, before any work begins.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "config/field.h"
#include "config/known_names.h"
#include "config/refusals.h"

namespace bertpretrain {

/// Parses JSON with `//` and `/* */` comments.
/// @param file named in messages
/// @throws ConfigError with line and column for bad syntax, naming the key for one that is set twice in one section, and for
///         more than 32 levels
nlohmann::json parse_settings(std::string_view text, const std::string& file);

/// Returns a settings file's content. @throws ConfigError when the file cannot be read
std::string load_settings_text(const std::filesystem::path& file);

/// parse_settings() of a file's content. @throws ConfigError also when the file cannot be read
nlohmann::json load_settings(const std::filesystem::path& file);

namespace detail {

/// What one read_config() needs at every setting.
struct Reading {
    const std::string& file;
    const KnownNames& names;
    Refusals& refusals;
    const NamePlace& place;  ///< empty: at its path in the file

    /// The beginning of a message: "FILE: section.key".
    std::string where(const std::string& path) const { return place ? place(path) : file + ": " + path; }
};

/// Returns the member of a section under its name or one of its old names; null if it is absent.
/// @throws ConfigError if it is there under two names
const nlohmann::json* find_member(const nlohmann::json& section, std::string_view name, const Rule& rule,
                                  const std::string& where);

/// Sets `value` to `json`, which must have its type (no rounding, no conversion) and obey the rule.
/// @param where "FILE: section.key", the beginning of every message
/// @throws ConfigError
void read_value(SettingValue& value, const nlohmann::json& json, const Rule& rule, const std::string& where);

/// Whether the section has a member of this name with this value.
bool has_value(const nlohmann::json& section, const std::string& name, std::string_view value);

/// An empty object. Read in place of an absent section, so that its required settings are reported as missing.
const nlohmann::json& empty_section();

void refuse_unless_section(const nlohmann::json& json, const std::string& where);
/// @param others  settings of other variants of the section, {key: advice}
void refuse_unknown_names(const nlohmann::json& json, const std::vector<std::string>& keys, const std::string& section,
                          const Reading& reading, const std::map<std::string, std::string>& others);
[[noreturn]] void refuse_missing(const std::string& where, const Rule& rule);
std::map<std::string, std::string> renamed_settings(const std::vector<Setting>& settings);

template <Config T>
void read_section(T& config, const nlohmann::json& json, const std::string& section, const Reading& reading);

/// Reads one member: a section or a value. @throws ConfigError
template <class Member>
void read_member(Member& member, const nlohmann::json* found, const Rule& rule, const std::string& path, const Reading& reading) {
    if (found == nullptr && rule.is_required) refuse_missing(reading.where(path), rule);
    if constexpr (Config<Member>) {
        if (found != nullptr) refuse_unless_section(*found, reading.where(path));
        read_section(member, found != nullptr ? *found : empty_section(), path, reading);
    } else if (found != nullptr) {
        using Value = std::conditional_t<Choice<Member>, std::string, Member>;
        SettingValue value(std::in_place_type<Value>);
        read_value(value, *found, rule, reading.where(path));
        if constexpr (Choice<Member>) member = choice_named<Member>(std::get<Value>(value));
        else member = std::get<Value>(std::move(value));
    }
}

/// Makes the config the variant that the section's first setting names. Leaves it to read_member() to refuse another value.
template <Config T>
void choose_variant(T& config, const nlohmann::json& json) {
    if constexpr (HasVariants<T>)
        for (const T& variant : T::variants())
            if (has_value(json, list_settings(variant).front().path, variant.variant())) config = variant;
}

/// The settings of the other variants of a section, {key: advice}.
template <Config T>
std::map<std::string, std::string> settings_of_other_variants(const T& config) {
    std::map<std::string, std::string> others;
    if constexpr (HasVariants<T>)
        for (const T& other : T::variants())
            for (const std::vector<Setting> all = list_settings(other); const Setting& setting : all)
                others[setting.path] = "it is a setting of " + all.front().path + " \"" + other.variant() + "\", and this is \"" +
                                       config.variant() + "\"";
    return others;
}

template <Config T>
void read_section(T& config, const nlohmann::json& json, const std::string& section, const Reading& reading) {
    choose_variant(config, json);
    std::vector<std::string> keys;
    for_each_field(config, [&](const FieldInfo& info, auto&) {
        keys.emplace_back(info.name);
        keys.insert(keys.end(), info.rule.old_names.begin(), info.rule.old_names.end());
    });
    refuse_unknown_names(json, keys, section, reading, settings_of_other_variants(config));
    for_each_field(config, [&](const FieldInfo& info, auto& member) {
        const std::string path = (section.empty() ? "" : section + ".") + std::string(info.name);
        reading.refusals.attempt(
            [&] { read_member(member, find_member(json, info.name, info.rule, reading.where(path)), info.rule, path, reading); });
    });
}

}  // namespace detail

/// Returns {old path: current path} of all settings that were renamed.
template <Config T>
std::map<std::string, std::string> renamed_settings() {
    return detail::renamed_settings(list_all_settings<T>());
}

/// Returns the config that `json` describes. Settings that `json` leaves out have their defaults; old names are understood.
/// @param file named in messages @param place for settings that are written elsewhere than at their path in the file
/// @throws ConfigError that lists all errors at once, each as `FILE: section.key = VALUE: must be ...`: an unknown key (with the
///         key that was probably meant), a wrong type (4.7 for an integer, 1 for a bool, null), a value outside its rule, a
///         required key that is absent
template <Config T>
T read_config(const nlohmann::json& json, const std::string& file, const NamePlace& place = {}) {
    T config{};
    detail::refuse_unless_section(json, file);
    Refusals refusals;
    detail::read_section(config, json, "", {file, known_names<T>(), refusals, place});
    refusals.throw_if_any();
    return config;
}

}  // namespace bertpretrain
