#pragma once
// Ends a run that hangs.

#include <filesystem>
#include <string>

#include "parallel/launch_environment.h"

namespace bertpretrain {

/// Logs `what` (which took too long) and each thread's stack, writes exit.json, and ends the process with exit code 5. Takes at
/// most a minute, even if the log or the disk hangs too. May be called from any thread.
[[noreturn]] void end_hung_run(const std::filesystem::path& exit_file, const Launch& launch, const std::string& what);

}  // namespace bertpretrain
