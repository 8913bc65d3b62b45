#pragma once
// Prints settings for shell scripts.

#include <string>
#include <vector>

#include "config/field.h"

namespace bertpretrain {

namespace detail {
std::string shell_assignments(const std::vector<Setting>& settings);
}  // namespace detail

/// Returns a line per setting that assigns its value to a variable of bash, safe for `eval`: data.command becomes
/// data_command='...', a list an array. A text that is null, or a number that is "auto", becomes an empty text.
/// @throws ConfigError for a text with a NUL character, which no shell variable can hold
/// @throws std::logic_error for a list of weighted paths, which has no such form
template <Config T>
std::string shell_assignments(const T& config) {
    return detail::shell_assignments(list_settings(config));
}

}  // namespace bertpretrain
