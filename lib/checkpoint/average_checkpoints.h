#pragma once
// The mean of several checkpoints' weights, as a checkpoint.

#include <filesystem>
#include <vector>

namespace bertpretrain {

/// Writes OUTPUT/step_N, where N is the largest step of the given checkpoints. Each weight is their mean: summed in fp64 in the
/// given order, rounded to fp32 once. Settings, progress and vocabulary are those of step N; there are no moments and no held-out
/// loss. lineage.json names every checkpoint under "started_from".
/// @param checkpoints folders of at least two complete checkpoints, whose contents are verified
/// @param output must not exist, or be empty; its parent must exist
/// @returns the new checkpoint's folder
/// @throws ConfigError for too few or repeated checkpoints, an output that is not empty, and checkpoints of different models or
/// vocabularies @throws CheckpointError when a file is damaged or cannot be written
std::filesystem::path average_checkpoints(const std::vector<std::filesystem::path>& checkpoints,
                                          const std::filesystem::path& output);

}  // namespace bertpretrain
