#pragma once
// Options and helpers shared by the commands of this program.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "parallel/launch_environment.h"
#include "parallel/local_ranks.h"
#include "parallel/world.h"
#include "text/formats/input_settings.h"

namespace bertpretrain {

/// Adds --set.
void add_set_option(CLI::App& command, std::vector<std::string>& overrides);

/// Adds --local-ranks.
void add_local_ranks_option(CLI::App& command, std::int64_t& local_ranks);

/// Adds --precision ("fp32" or "bf16") and --device ("auto", "cpu" or "cuda").
void add_device_options(CLI::App& command, std::string& precision, std::string& device);

/// Adds --format, --letters, --encoding and --text-field, which decide what texts a file has.
void add_text_options(CLI::App& command, InputSettings& settings);

/// Starts the processes that --local-ranks asks for and waits for them, unless this process is one of them.
/// Warns where a Slurm job has tasks, but did not start this process with srun.
/// @param max_restarts how often they are started again when one is lost
/// @param when_killed see run_local_ranks()
/// @returns their exit code; nothing if this process must do the work itself
/// @throws ConfigError if a launcher has started another number of ranks
std::optional<int> run_as_local_ranks(std::int64_t local_ranks, const Launch& launch, std::int64_t max_restarts = 0,
                                      const WhenKilled& when_killed = {});

/// Connects the ranks of a command that exchange messages only between long pieces of work. Once connected, a rank waits up to a
/// week for the others; a closed connection is still noticed at once.
std::unique_ptr<World> patient_world(const Launch& launch);

}  // namespace bertpretrain
