#pragma once
// Verifies checkpoints without loading them into a model.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bertpretrain {

struct CheckpointHealth {
    std::filesystem::path folder;
    std::string damage;       ///< what is wrong; empty when the checkpoint is intact
    std::uint64_t bytes = 0;  ///< total size of the files that COMPLETE.json lists
};

/// Returns the checkpoint folders that a path stands for, oldest first, including damaged ones: a step's folder itself, or all
/// step_N in the folder or in its "checkpoints" folder; empty where there are none.
/// @throws CheckpointError when a folder cannot be listed
std::vector<std::filesystem::path> step_folders(const std::filesystem::path& argument);

/// Reads every file of a step's folder and compares size and CRC-32 with COMPLETE.json. Also checks every record and tensor
/// description of the .pt files. Reports damage in the result and does not throw CheckpointError.
CheckpointHealth examine_checkpoint(const std::filesystem::path& folder);

}  // namespace bertpretrain
