#pragma once
// Checks that the disk has enough free space for checkpoints.

#include <cstdint>
#include <filesystem>
#include <string>

#include "plan/run_plan.h"

namespace bertpretrain {

/// The complete checkpoints of a run.
struct ExistingCheckpoints {
    std::uint64_t count = 0;
    std::uint64_t deletable = 0;  ///< those that a save may delete on a full disk
};

struct CheckpointSpace {
    std::string words;      ///< what the checkpoints take, and what is free
    bool holds_all = true;  ///< false: older checkpoints will be deleted before there are keep_last newer ones
};

/// Compares the space that a run's checkpoints take with the free space of their disk.
/// @param store the checkpoints' folder, which need not exist yet
/// @throws CheckpointError when not even one checkpoint fits, unless an existing one may be deleted for it
CheckpointSpace compare_space(const std::filesystem::path& store, std::uint64_t checkpoint_bytes,
                              const ExperimentConfig& settings, ExistingCheckpoints existing = {});

/// Returns what compare_space() says. @throws CheckpointError unless all checkpoints that are kept and one being written fit
std::string require_space(const std::filesystem::path& store, std::uint64_t checkpoint_bytes, const ExperimentConfig& settings);

}  // namespace bertpretrain
