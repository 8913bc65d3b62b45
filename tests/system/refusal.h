#pragma once
// Checks that hold for every refusal of a bad request.

#include <filesystem>
#include <string>
#include <vector>

#include "support/command.h"

namespace bertpretrain::testing {

/// The exit codes that scripts rely on.
constexpr int config_exit = 2, data_exit = 3, checkpoint_exit = 4;

/// Checks the documented exit code, one message on standard error with all of `words`, and nothing on standard output.
/// @param request printed when a check fails
void check_refusal(const CommandResult& result, int exit_code, const std::vector<std::string>& words, const std::string& request);

/// As check_refusal(), and checks that nothing was trained in the run's folder.
void check_refused_before_training(const CommandResult& result, int exit_code, const std::vector<std::string>& words,
                                   const std::string& request, const std::filesystem::path& run);

/// Runs a command with one thread, and requires that it succeeds.
CommandResult successful(const std::string& command);

}  // namespace bertpretrain::testing
