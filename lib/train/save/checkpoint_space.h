#pragma once
// Checks that the disk has enough free space for checkpoints.

#include <cstdint>
#include <filesystem>
#include <string>

#include "plan/run_plan.h"

namespace bertpretrain {

/// Compares the space that checkpoints take with the free space. @param store their folder, which need not exist yet
/// @returns a description of both
/// @throws CheckpointError when not even one checkpoint fits
std::string compare_space(const std::filesystem::path& store, std::uint64_t checkpoint_bytes, const CheckpointConfig& config);

/// Like compare_space, but @throws CheckpointError unless all checkpoints that are kept and one being written fit
std::string require_space(const std::filesystem::path& store, std::uint64_t checkpoint_bytes, const CheckpointConfig& config);

}  // namespace bertpretrain
