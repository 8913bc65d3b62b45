#pragma once
// Checks whether a state contains NaN or Inf.

#include "checkpoint/training_state.h"

namespace bertpretrain {

/// Returns whether this rank's weights and moments are all finite. Reads them once, on the calling thread.
bool is_finite(const TrainingState& state);

}  // namespace bertpretrain
