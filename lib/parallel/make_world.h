#pragma once
// From how a process was started to its world.

#include <chrono>
#include <memory>

#include <c10/core/Device.h>

#include "parallel/launch_environment.h"
#include "parallel/world.h"

namespace bertpretrain {

/// Connects all ranks of the launch. A single process gets a SingleProcess, unless Launch::forces_world asks for connections.
/// @param timeout how long to wait for the others to come, and in every operation until set_timeout()
/// @param device what the ranks' tensors are on: Gloo carries those of CPUs, NCCL those of GPUs
/// @throws DistributedError when they do not come in time
std::unique_ptr<World> make_world(const Launch& launch, std::chrono::seconds timeout, at::Device device = at::kCPU);

}  // namespace bertpretrain
