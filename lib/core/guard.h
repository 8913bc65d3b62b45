#pragma once
// The outermost frame of both programs.

#include <functional>

namespace bertpretrain {

/// What std::bad_alloc means to a user; exit code 2, because starting again does not mend it.
inline constexpr const char* out_of_memory_message =
    "out of memory; use a smaller batch.micro_batch_size, training.activation_checkpointing or a machine with more memory";

/// Runs `body`, and turns an exception from it into one message on standard error and the documented exit code. Signals are
/// prepared as core/signals.h says. Standard output that cannot be written ends the program too, unless `body` clears
/// std::cout.exceptions(): with 141 and no message where its reader has left, as SIGPIPE would; else with 3.
int run_guarded(const std::function<int()>& body);

}  // namespace bertpretrain
