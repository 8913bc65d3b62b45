#pragma once
// How much memory there is to use.

#include <cstdint>
#include <filesystem>

#include <c10/core/Device.h>

namespace bertpretrain {

/// Bytes that processes of this host, or of this container, can still take: what the kernel calls available, and at most what
/// the control groups leave (version 1 or 2). @param root before /proc and /sys
std::uint64_t available_host_memory(const std::filesystem::path& root = "/");

/// Bytes that this host has, or this container may take at most. @param root before /proc and /sys
std::uint64_t host_memory_limit(const std::filesystem::path& root = "/");

/// Free bytes: of a GPU its own, else the host's.
std::uint64_t available_memory(at::Device device);

}  // namespace bertpretrain
