#pragma once
// Ends a process that hangs, in a run or while it exits.

#include <filesystem>
#include <string>

#include "parallel/launch_environment.h"

namespace bertpretrain {

/// Logs `what` (which took too long) and each thread's stack, writes exit.json, and ends the process with exit code 5. Takes at
/// most a minute, even if the log or the disk hangs too. May be called from any thread.
[[noreturn]] void end_hung_run(const std::filesystem::path& exit_file, const Launch& launch, const std::string& what);

/// Seconds that a training process gets after its last save to release threads, connections and files.
inline constexpr double seconds_to_leave = 15;

/// Ends the process with `exit_code` and logs `cause` if it has not ended by itself after `seconds`: a thread that is stuck in a
/// read from an unresponsive disk cannot be joined, and NCCL's threads take up to 60 s to end after a failure. Only the first
/// call counts. Returns at once; never throws.
void limit_leaving(double seconds, int exit_code, const std::string& cause) noexcept;

}  // namespace bertpretrain
