#pragma once
// What a container allows, which the number of cores does not tell.

#include <filesystem>
#include <optional>

namespace bertpretrain {

/// Cores' worth of processor time that control groups (version 1 or 2) allow this process, the tightest of its groups; none
/// where nothing limits it.
/// @param root before /proc and /sys
std::optional<double> cgroup_core_limit(const std::filesystem::path& root = "/");

}  // namespace bertpretrain
