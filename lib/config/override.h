#pragma once
// Settings given on the command line.

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace bertpretrain {

/// Writes each `section.key=value` into `settings`; of several for one key, the last wins. A value that is valid JSON (5, true,
/// [1, 2], "text") is read as JSON, any other as text. Does not check names and types: read_config() does.
/// @param renamed {old path: current path} (read.h); an override replaces the setting under both
/// @throws ConfigError if an override has another form, or its path goes through a value that is not a section
void apply_overrides(nlohmann::json& settings, const std::vector<std::string>& overrides,
                     const std::map<std::string, std::string>& renamed = {});

/// Returns the value at "section.key"; null: there is none.
const nlohmann::json* value_at(const nlohmann::json& settings, const std::string& path);

}  // namespace bertpretrain
