#pragma once
// One checkpoint by all ranks.

#include "checkpoint/checkpoint_store.h"
#include "parallel/world.h"

namespace bertpretrain {

/// Every rank writes its pieces straight into the files, which lie on a file system that all share; rank 0 completes them.
/// @throws CheckpointError on every rank when any fails; what was begun is removed then
void save_together(World& world, const CheckpointStore& store, const TrainingState& state);

}  // namespace bertpretrain
