#pragma once
// Settings for people and for files: complete, defaults included.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/field.h"

namespace bertpretrain {

/// A setting that two configs disagree about.
struct Difference {
    std::string path;     ///< "section.key"
    std::string value_a;  ///< as JSON
    std::string value_b;
    bool may_change = false;  ///< on resume
};

namespace detail {
nlohmann::ordered_json to_json(const std::vector<Setting>& settings);
std::string settings_table(const std::vector<Setting>& settings, const std::vector<Setting>& defaults);
std::string explain_settings(const std::vector<Setting>& defaults, const std::string& which);
std::vector<Difference> compare_settings(const std::vector<Setting>& a, const std::vector<Setting>& b);
}  // namespace detail

/// All settings in the order of describe(), nested by section; read_config() of it gives an equal config.
template <Config T>
nlohmann::ordered_json write_config(const T& config) {
    return detail::to_json(list_settings(config));
}

/// A table of setting and value, with "default" behind each that was not changed.
template <Config T>
std::string settings_table(const T& config) {
    return detail::settings_table(list_settings(config), list_settings(T{}));
}

/// A table of every setting: default, allowed values, whether it may change on resume, meaning.
/// @param which only this setting or section: "optimizer", "optimizer.betas" @throws ConfigError when there is none
template <Config T>
std::string explain_config(const std::string& which = "") {
    return detail::explain_settings(list_settings(T{}), which);
}

/// What differs between `a` and `b`, in the order of describe().
template <Config T>
std::vector<Difference> compare_configs(const T& a, const T& b) {
    return detail::compare_settings(list_settings(a), list_settings(b));
}

}  // namespace bertpretrain
