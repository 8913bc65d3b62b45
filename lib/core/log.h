#pragma once
// Words for people, on standard error and in a run's log.txt; results go to standard output instead.

#include <filesystem>
#include <string_view>

namespace bertpretrain {

void log_info(std::string_view message);
void log_warning(std::string_view message);
void log_error(std::string_view message);

/// From now on every message is appended to `file` too, with its time. @throws ConfigError when it cannot be opened
void log_also_to(const std::filesystem::path& file);

}  // namespace bertpretrain
