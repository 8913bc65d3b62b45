#pragma once
// Whether a state deserves to be kept.

#include "optimizer/sharded_optimizer.h"

namespace bertpretrain {

/// Whether this rank's weights and moments are all finite. Reads them once.
bool is_finite(const OptimizerState& state);

}  // namespace bertpretrain
