#pragma once
// From a checkpoint back into the running parts.

#include "checkpoint/checkpoint_reader.h"
#include "model/flat_parameters.h"
#include "optimizer/sharded_optimizer.h"
#include "parallel/control_group.h"

namespace bertpretrain {

/// Fills the optimizer's state from a checkpoint written by any number of ranks. Padding stays zero. All ranks call it together.
/// @param reader  each rank reads what it needs; where some see no checkpoint (null, never on rank 0), rank 0 reads all of it and
/// sends it to all, a few MiB at a time
/// @throws CheckpointError on all ranks when the checkpoint is damaged or of another model
void restore_optimizer(ControlGroup& ranks, const CheckpointReader* reader, const ParameterLayout& layout,
                       ShardedOptimizer& optimizer);

/// All ranks compare the CRC-32 of each parameter that the model computes with.
/// @throws DistributedError on all ranks naming the first parameter that is not the same everywhere, and where
void refuse_different_weights(ControlGroup& ranks, const FlatParameters& parameters);

}  // namespace bertpretrain
