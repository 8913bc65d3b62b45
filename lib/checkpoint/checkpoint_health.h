#pragma once
// Whether checkpoints are whole, without loading them.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bertpretrain {

struct CheckpointHealth {
    std::filesystem::path folder;
    std::string damage;       ///< what is wrong with it; empty when it is whole
    std::uint64_t bytes = 0;  ///< that were read and checked
};

/// The checkpoint folders that an argument means, oldest first, damaged ones included: a step's folder itself, or all step_N in
/// it or in its "checkpoints" folder; empty where there is none.
/// @throws CheckpointError when a folder cannot be listed
std::vector<std::filesystem::path> step_folders(const std::filesystem::path& argument);

/// Reads every file of a step's folder: its size and CRC-32 against COMPLETE.json, and of its .pt files every record and the
/// tensors' description.
CheckpointHealth examine_checkpoint(const std::filesystem::path& folder);

}  // namespace bertpretrain
