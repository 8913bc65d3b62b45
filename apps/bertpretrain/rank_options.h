#pragma once
// What the commands that share their work between ranks have in common.

#include <cstdint>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>

#include "parallel/launch_environment.h"
#include "parallel/world.h"

namespace bertpretrain {

void add_local_ranks_option(CLI::App& command, std::int64_t& local_ranks);

/// Where --local-ranks asks for processes that nobody has started yet: starts them and waits. @returns their exit code; nothing
/// in a process that is to do the work itself
/// @throws ConfigError when a launcher has started another number of ranks
std::optional<int> run_as_local_ranks(std::int64_t local_ranks, const Launch& launch);

/// The ranks of a command that talk only between long pieces of work: they are waited for a week, once all have come. One that is
/// lost is noticed at once all the same.
std::unique_ptr<World> patient_world(const Launch& launch);

}  // namespace bertpretrain
