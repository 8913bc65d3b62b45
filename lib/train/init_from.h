#pragma once
// A run that begins with somebody's weights instead of random ones.

#include <cstdint>
#include <string>

#include "model/parameter_layout.h"
#include "optimizer/sharded_optimizer.h"
#include "parallel/world.h"
#include "train/experiment_config.h"

namespace bertpretrain {

/// Fills the weights that this rank owns, already initialised, from initialization.init_from; every rank reads its own part, rank
/// 0 checks the checksums of all. What was fitted is said in the log.
/// @param vocabulary of the run; compared with the one beside the weights where there are both
/// @returns the optimizer's updates that the moments have behind them; 0 without moments
/// @throws ConfigError (on all ranks) listing what does not fit: tensors, shape of the model, vocabulary
/// @throws CheckpointError when a file is damaged or not understood
std::int64_t init_from(const ExperimentConfig& experiment, const std::string& vocabulary, World& world,
                       const ParameterLayout& layout, ShardedOptimizer& optimizer);

}  // namespace bertpretrain
