#pragma once
// Initializes the model from another checkpoint.

#include <cstdint>
#include <string>

#include "model/parameter_layout.h"
#include "optimizer/sharded_optimizer.h"
#include "parallel/world.h"
#include "plan/run_plan.h"

namespace bertpretrain {

/// Overwrites the weights that this rank owns, already initialized, with those from initialization.init_from. Every rank reads
/// its own part; rank 0 verifies all checksums and logs adjustments. With init_moments, rank 0 reads for ranks that do not see
/// the checkpoint. All ranks call it together. The run's vocabulary is compared with the one next to the weights if both exist.
/// It may extend that one: a new token's row is then the mean of its pieces' rows.
/// @returns the number of optimizer updates in the moments; 0 without moments
/// @throws ConfigError (on all ranks) listing tensors, model settings or vocabulary that do not fit
/// @throws CheckpointError when a file is damaged or has an unknown format
std::int64_t init_from(const RunPlan& plan, World& world, const ParameterLayout& layout, ShardedOptimizer& optimizer);

/// Fills the optimizer with the state that the run starts from: weights from the seed, or from init_from where the plan names it,
/// and zero moments. All ranks call it together. @returns and @throws like init_from()
std::int64_t fill_initial_state(const RunPlan& plan, World& world, const ParameterLayout& layout, ShardedOptimizer& optimizer);

}  // namespace bertpretrain
