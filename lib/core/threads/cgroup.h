#pragma once
// The control group (container) of this process: its limits of CPU and memory, which the host's figures do not reflect.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace bertpretrain {

/// Returns the CPU quota of this process in cores: the smallest quota of its control group (v1 or v2) and that group's parents.
/// Returns nullopt when none is set.
/// @param root folder that contains /proc and /sys
std::optional<double> cgroup_core_limit(const std::filesystem::path& root = "/");

/// Bytes; the largest number where nothing is limited.
struct CgroupMemory {
    std::uint64_t limit = 0, left = 0;
};

/// Returns how much memory this process may use at most, and how much it may still allocate: the smallest of its control group
/// (v1 or v2) and that group's parents, as Slurm limits a job and not its steps. Cache that the kernel can drop is not in use.
/// @param root folder that contains /proc and /sys
CgroupMemory cgroup_memory(const std::filesystem::path& root = "/");

/// The folder of a control group, whose files differ between the two versions of control groups.
struct CgroupFolder {
    std::filesystem::path folder;
    bool is_version_2 = true;
};

/// Returns the folder of this process's control group for a controller ("cpu", "memory"); nullopt where none is visible. A
/// container that sees its own group mounted as the root gets that.
/// @param root folder that contains /proc and /sys
std::optional<CgroupFolder> cgroup_folder(const std::string& controller, const std::filesystem::path& root = "/");

}  // namespace bertpretrain
