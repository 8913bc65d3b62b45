#pragma once
// Restores the optimizer's state from a checkpoint.

#include "checkpoint/checkpoint_reader.h"
#include "model/flat_parameters.h"
#include "optimizer/sharded_optimizer.h"
#include "parallel/control_group.h"

namespace bertpretrain {

/// Fills the optimizer's state from a checkpoint written by any number of ranks. Padding stays zero. All ranks call it together.
/// @param reader  each rank reads the part that it needs. If some ranks cannot access the checkpoint (null; never on rank 0),
/// rank 0 reads all of it and broadcasts it, a few MiB at a time. Afterwards the ranks' parts, joined, must have the CRC-32 of
/// each tensor that rank 0's checkpoint records: a rank may have read another file, or memory or network may have changed its
/// part.
/// @throws CheckpointError on all ranks when the checkpoint is damaged or belongs to a different model
/// @throws DistributedError on all ranks naming a tensor of which a part is not what was saved, and the ranks that hold it
void restore_optimizer(ControlGroup& ranks, const CheckpointReader* reader, const ParameterLayout& layout,
                       ShardedOptimizer& optimizer);

/// Compares the CRC-32 of each of the model's parameters between ranks. All ranks call it together.
/// @throws DistributedError on all ranks naming the first parameter that differs from rank 0's, and the rank
void refuse_different_weights(ControlGroup& ranks, const FlatParameters& parameters);

}  // namespace bertpretrain
