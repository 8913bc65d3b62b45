#pragma once
// Starts a run from the weights of another checkpoint.

#include <cstdint>
#include <string>

#include "model/parameter_layout.h"
#include "optimizer/sharded_optimizer.h"
#include "parallel/world.h"
#include "plan/run_plan.h"

namespace bertpretrain {

/// Fills the weights that this rank owns, already initialised, from initialization.init_from; every rank reads its own part, rank
/// 0 checks the checksums of all. What was fitted is said in the log.
/// The run's vocabulary is compared with the one beside the weights where there are both.
/// @returns the optimizer's updates that the moments have behind them; 0 without moments
/// @throws ConfigError (on all ranks) listing what does not fit: tensors, shape of the model, vocabulary
/// @throws CheckpointError when a file is damaged or not understood
std::int64_t init_from(const RunPlan& plan, World& world, const ParameterLayout& layout, ShardedOptimizer& optimizer);

}  // namespace bertpretrain
