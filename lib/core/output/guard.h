#pragma once
// Top-level error handling of both programs.

#include <functional>

namespace bertpretrain {

/// The message for std::bad_alloc. Its exit code is 2, because a restart does not help.
inline constexpr const char* out_of_memory_message =
    "out of memory; use a smaller batch.micro_batch_size, training.activation_checkpointing or a machine with more memory";

/// Calls prepare_signals(), runs `body` and returns its exit code. An exception becomes one message on standard error and its
/// documented exit code. A failed write to standard output also ends the program, unless `body` clears std::cout.exceptions():
/// with exit code 141 and no message when the reader has closed the pipe (as SIGPIPE would), otherwise with 3. Waits up to five
/// seconds for log messages to be written.
int run_guarded(const std::function<int()>& body);

}  // namespace bertpretrain
