#pragma once
// Top-level error handling of both programs.

#include <exception>
#include <functional>
#include <optional>

#include "core/error.h"

namespace bertpretrain {

/// Returns what an exception of the standard library means for the user: a ConfigError for a limit of this machine
/// (std::bad_alloc, and std::system_error where no more threads or processes may be started), a DataError with the path for a
/// std::filesystem::filesystem_error. A restart helps for none of them. Returns nothing for any other exception.
std::optional<Error> known_error(const std::exception& error);

/// Calls prepare_signals(), runs `body` and returns its exit code. An exception becomes one message on standard error and its
/// documented exit code. A failed write to standard output also ends the
/// program, unless `body` clears std::cout.exceptions(): with exit code 141 and no message when the reader has closed the pipe
/// (as SIGPIPE would), otherwise with 3. Waits up to five seconds for log messages to be written.
int run_guarded(const std::function<int()>& body);

}  // namespace bertpretrain
