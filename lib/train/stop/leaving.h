#pragma once
// Limits how long a process takes to exit.

#include <string>

namespace bertpretrain {

/// Seconds that a training process gets after its last save to release threads, connections and files.
inline constexpr double seconds_to_leave = 15;

/// Ends the process with `exit_code` and logs `cause` if it has not ended by itself after `seconds`: a thread that is stuck in a
/// read from an unresponsive disk cannot be joined, and NCCL's threads take up to 60 s to end after a failure. Only the first
/// call counts. Returns at once; never throws.
void limit_leaving(double seconds, int exit_code, const std::string& cause) noexcept;

}  // namespace bertpretrain
