#pragma once
// Whether a state deserves to be kept.

#include "checkpoint/training_state.h"

namespace bertpretrain {

/// Whether this rank's weights and moments are all finite. Reads them once, on the calling thread.
bool is_finite(const TrainingState& state);

}  // namespace bertpretrain
