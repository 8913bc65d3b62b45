#pragma once
// Finding and opening the device that a process computes on.

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

namespace bertpretrain {

/// Whether NVIDIA's driver is installed on this host.
bool has_gpu_driver();

/// The GPUs that this process can use. Loads libtorch's CUDA half where a driver is installed, so that a run on a CPU starts
/// without those two seconds.
std::int64_t usable_gpus();

/// The CPU, or the GPU of a rank of this host, which becomes the current one.
/// @throws ConfigError where the host has fewer GPUs than ranks
at::Device open_device(bool on_gpu, std::int64_t local_rank);

}  // namespace bertpretrain
