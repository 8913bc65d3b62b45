#pragma once
// The process's environment variables. No other file reads them.

#include <functional>
#include <optional>
#include <string>

namespace bertpretrain {

/// Returns the value of an environment variable, or nothing where it is unset or empty.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;

/// Whether the variable is set, be it to nothing.
bool is_set_in_environment(const std::string& name);

/// Looks up this process's own environment.
std::optional<std::string> environment_variable(const std::string& name);

}  // namespace bertpretrain
