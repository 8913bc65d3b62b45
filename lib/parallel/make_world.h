#pragma once
// From how a process was started to its world.

#include <chrono>
#include <memory>

#include "parallel/launch_environment.h"
#include "parallel/world.h"

namespace bertpretrain {

/// A world of one where the launch says so; else all its ranks, connected.
/// @param patience how long to wait for the others to come, and in every operation until set_patience()
/// @throws DistributedError when they do not come in time
std::unique_ptr<World> make_world(const Launch& launch, std::chrono::seconds patience);

}  // namespace bertpretrain
