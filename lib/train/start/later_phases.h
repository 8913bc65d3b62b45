#pragma once
// Looks at the settings and data of phases that train later, so that a slip in one does not show only after days.

#include <cstddef>
#include <vector>

#include "parallel/launch_environment.h"
#include "plan/training_phases.h"

namespace bertpretrain {

/// Compares the shards of the phases after `current` with their settings, as far as manifests tell: that the folders are there
/// and complete, have one vocabulary, which the model has rows for, and rows of the phase's length. Folders without a manifest
/// are looked for only. Also makes the plan of each of them for this launch. Call it on one rank.
/// @throws DataError naming the phase, the folder and what differs
/// @throws ConfigError naming the phase, where resolve() refuses its settings
void check_later_phases(const std::vector<TrainingPhase>& phases, std::size_t current, const Launch& launch);

}  // namespace bertpretrain
