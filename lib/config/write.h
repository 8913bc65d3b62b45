#pragma once
// Prints settings, for files and for people.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/field.h"
#include "config/known_names.h"

namespace bertpretrain {

/// A setting that differs between two configs.
struct Difference {
    std::string path;     ///< "section.key"
    std::string value_a;  ///< as JSON
    std::string value_b;
    bool may_change = false;  ///< on resume
};

/// The settings that a table lists.
enum class Show { changed, all };

namespace detail {
nlohmann::ordered_json to_json(const std::vector<Setting>& settings);
std::string settings_table(const std::vector<Setting>& settings, const std::vector<Setting>& defaults, Show show);
std::string explain_settings(const std::vector<Setting>& defaults, const KnownNames& names, const std::string& which,
                             std::size_t width);
std::string settings_page(const std::vector<Setting>& defaults);
std::vector<Difference> compare_settings(const std::vector<Setting>& a, const std::vector<Setting>& b);
}  // namespace detail

/// Returns all settings, defaults included, in the order of describe(), nested by section. read_config() of it gives an equal
/// config.
template <Config T>
nlohmann::ordered_json write_config(const T& config) {
    return detail::to_json(list_settings(config));
}

/// Returns a table of the settings that differ from their defaults, with both values, and the number of the others; or of all
/// settings, with "default" after each that was not changed.
template <Config T>
std::string settings_table(const T& config, Show show = Show::changed) {
    return detail::settings_table(list_settings(config), list_all_settings<T>(), show);
}

/// Returns a description of every setting: default, allowed values, whether it may change on resume, meaning.
/// @param which only this setting or section: "optimizer", "optimizer.betas"
/// @param width of the lines, in columns @throws ConfigError if there is no such setting
template <Config T>
std::string explain_config(const std::string& which = "", std::size_t width = 100) {
    return detail::explain_settings(list_all_settings<T>(), known_names<T>(), which, width);
}

/// Returns a page in Markdown: a table per section, with the default, the allowed values and the meaning of every setting, and
/// whether it may change on resume.
template <Config T>
std::string settings_page() {
    return detail::settings_page(list_all_settings<T>());
}

/// Returns the settings that differ between `a` and `b`, in the order of describe().
template <Config T>
std::vector<Difference> compare_configs(const T& a, const T& b) {
    return detail::compare_settings(list_settings(a), list_settings(b));
}

}  // namespace bertpretrain
