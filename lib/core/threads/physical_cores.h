#pragma once
// Cores and their hardware threads. Where SMT is on, the kernel counts each hardware thread as a core of its own.

#include <cstddef>
#include <filesystem>
#include <vector>

namespace bertpretrain {

/// Returns how many physical cores these hardware threads belong to. One whose core the kernel does not name counts as a core.
/// @param hardware_threads numbered as the kernel does @param root folder that contains /sys
std::size_t physical_cores_of(const std::vector<int>& hardware_threads, const std::filesystem::path& root = "/");

/// Returns how many threads should compute at the same time: available_cores(), but at most one per physical core that this
/// process may use at the first call. Two hardware threads share a core's caches and multipliers, so a second thread adds nothing
/// to matrix multiplications and may slow them with AMX.
std::size_t available_physical_cores();

}  // namespace bertpretrain
