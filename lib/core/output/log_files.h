#pragma once
// What guard.h logs of a rank whose error another rank has printed.

#include <string_view>

namespace bertpretrain {

/// Logs an error to the log files (log_also_to() in log.h) and not to standard error.
void log_error_to_files(std::string_view message);

}  // namespace bertpretrain
