#pragma once
// Settings given on the command line.

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace bertpretrain {

/// Puts each `section.key=value` into `settings`, before they are read, the last one of a key counting. The value is read as
/// JSON where it is JSON (5, true, [1, 2], "text"), else it is the text itself. Unknown names are left to read_config().
/// @throws ConfigError for what is not of this form, or names something inside a value that is no section
void apply_overrides(nlohmann::json& settings, const std::vector<std::string>& overrides);

}  // namespace bertpretrain
