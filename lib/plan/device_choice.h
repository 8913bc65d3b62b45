#pragma once
// Which device training.device means on a host: the one rule for the plan, for the start of a run, and for commands without a
// plan.

#include <cstdint>
#include <string>

#include <c10/core/Device.h>

namespace bertpretrain {

/// Returns whether training.device ("auto", "cpu" or "cuda") means a GPU on a host with `gpus` usable ones. A pure function.
/// @throws ConfigError for "cuda" without a GPU
bool means_gpu(const std::string& device, std::int64_t gpus);

/// Opens the device that `device` means on this host, for commands without a plan.
/// @throws ConfigError for "cuda" without a GPU, and where the host has fewer GPUs than ranks
at::Device device_named(const std::string& device, std::int64_t local_rank = 0);

}  // namespace bertpretrain
