#pragma once
// The memory of this host or GPU.

#include <cstdint>
#include <filesystem>

#include <c10/core/Device.h>

namespace bertpretrain {

/// Returns the bytes that processes of this host or container can still allocate: the kernel's MemAvailable, limited by control
/// groups (version 1 or 2). @param root prefix of /proc and /sys
std::uint64_t available_host_memory(const std::filesystem::path& root = "/");

/// Returns the bytes that this host has, or that this container may use at most. @param root prefix of /proc and /sys
std::uint64_t host_memory_limit(const std::filesystem::path& root = "/");

/// Returns the free bytes of a GPU, or of the host for a CPU.
std::uint64_t available_memory(at::Device device);

}  // namespace bertpretrain
