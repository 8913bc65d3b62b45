#pragma once
// Top-level error handling of both programs.

#include <exception>
#include <functional>
#include <optional>
#include <string>

namespace bertpretrain {

/// Returns the message for an exception whose cause is a limit of this machine: std::bad_alloc, and std::system_error where no
/// more threads or processes may be started. Its exit code is 2, because a restart does not help. Returns nothing for any other.
std::optional<std::string> limit_message(const std::exception& error);

/// Calls prepare_signals(), runs `body` and returns its exit code. An exception becomes one message on standard error and its
/// documented exit code; std::filesystem's is a data error that names the path. A failed write to standard output also ends the
/// program, unless `body` clears std::cout.exceptions(): with exit code 141 and no message when the reader has closed the pipe
/// (as SIGPIPE would), otherwise with 3. Waits up to five seconds for log messages to be written.
int run_guarded(const std::function<int()>& body);

}  // namespace bertpretrain
