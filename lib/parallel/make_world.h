#pragma once
// Makes the world that a process was launched into.

#include <chrono>
#include <memory>

#include <c10/core/Device.h>

#include "parallel/launch_environment.h"
#include "parallel/world.h"

namespace bertpretrain {

/// Connects all ranks of the launch; blocks until they have connected. A single process gets a SingleProcess, unless
/// Launch::forces_world is set.
/// @param timeout for the other ranks to connect, and for every operation until set_timeout()
/// @param device of the ranks' tensors: Gloo is used for CPUs, NCCL for GPUs
/// @throws DistributedError when a rank does not connect within `timeout`
/// @throws ConfigError for different secrets (run_key.h) or a missing NCCL module (nccl_module.h)
std::unique_ptr<World> make_world(const Launch& launch, std::chrono::seconds timeout, at::Device device = at::kCPU);

}  // namespace bertpretrain
