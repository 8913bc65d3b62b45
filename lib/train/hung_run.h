#pragma once
// The end of a run that hangs.

#include <filesystem>
#include <string>

#include "parallel/launch_environment.h"

namespace bertpretrain {

/// Says what has taken too long and where each thread stands, writes exit.json, and ends the process with exit 5; within a
/// minute, even where the log or the disk hangs too. May be called from any thread.
[[noreturn]] void end_hung_run(const std::filesystem::path& exit_file, const Launch& launch, const std::string& what);

}  // namespace bertpretrain
