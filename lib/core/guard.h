#pragma once
// The outermost frame of both programs.

#include <functional>

namespace bertpretrain {

/// What std::bad_alloc means to a user; exit code 2, because starting again does not mend it.
inline constexpr const char* out_of_memory_message =
    "out of memory; use a smaller batch.micro_batch_size, training.activation_checkpointing or a machine with more memory";

/// Runs `body` and turns whatever it throws into one message on standard error and the documented exit code.
int run_guarded(const std::function<int()>& body);

}  // namespace bertpretrain
