#pragma once
// Whether checkpoints fit where they go.

#include <cstdint>
#include <filesystem>
#include <string>

#include "train/experiment_config.h"

namespace bertpretrain {

/// Compares what checkpoints take with the space there is. @param store their folder, which need not be there yet
/// @returns both in words
/// @throws CheckpointError when not even one fits
std::string compare_space(const std::filesystem::path& store, std::uint64_t checkpoint_bytes, const CheckpointConfig& config);

/// The same. @throws CheckpointError when not all that are kept, and one being written, fit
std::string require_space(const std::filesystem::path& store, std::uint64_t checkpoint_bytes, const CheckpointConfig& config);

}  // namespace bertpretrain
