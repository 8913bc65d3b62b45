#pragma once
// CPU limits of containers, which the number of cores does not reflect.

#include <filesystem>
#include <optional>

namespace bertpretrain {

/// Returns the CPU quota of this process in cores: the smallest quota of its control group (v1 or v2) and that group's parents.
/// Returns nullopt when none is set.
/// @param root folder that contains /proc and /sys
std::optional<double> cgroup_core_limit(const std::filesystem::path& root = "/");

}  // namespace bertpretrain
