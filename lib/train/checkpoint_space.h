#pragma once
// Whether checkpoints fit where they go.

#include <cstdint>
#include <filesystem>
#include <string>

#include "plan/run_plan.h"

namespace bertpretrain {

/// Compares what checkpoints take with the space there is. @param store their folder, which need not be there yet
/// @returns both in words
/// @throws CheckpointError when not even one fits
std::string compare_space(const std::filesystem::path& store, std::uint64_t checkpoint_bytes, const CheckpointPlan& config);

/// The same. @throws CheckpointError when not all that are kept, and one being written, fit
std::string require_space(const std::filesystem::path& store, std::uint64_t checkpoint_bytes, const CheckpointPlan& config);

}  // namespace bertpretrain
