#pragma once
// Looks at the data of phases that train later, so that a slip in one does not show only after days.

#include <cstddef>
#include <vector>

#include "plan/training_phases.h"

namespace bertpretrain {

/// Compares the shards of the phases after `current` with their settings, as far as manifests tell: that the folders are there
/// and complete, have one vocabulary, which the model has rows for, and rows of the phase's length. Folders without a manifest
/// are looked for only. Call it on one rank.
/// @throws DataError naming the phase, the folder and what differs
void check_later_phases(const std::vector<TrainingPhase>& phases, std::size_t current);

}  // namespace bertpretrain
