#pragma once
// One checkpoint by all ranks.

#include <filesystem>
#include <functional>
#include <vector>

#include "checkpoint/checkpoint_store.h"
#include "parallel/control_group.h"

namespace bertpretrain {

/// Every rank writes its pieces straight into the files, where it sees them; the others send theirs to rank 0, in parts, of which
/// rank 0 holds 64 MiB at most at a time. Rank 0 completes them.
/// @param sees_store by rank: whether the checkpoints of rank 0 lie on a file system that this rank has as well
/// @param sign_of_life called after each part that this rank has written or sent; may be empty
/// @returns the checkpoint's folder, as rank 0 sees it
/// @throws CheckpointError on every rank when any fails; what was begun is removed then
std::filesystem::path save_together(ControlGroup& ranks, const CheckpointStore& store, const TrainingState& state,
                                    const std::vector<bool>& sees_store, const std::function<void()>& sign_of_life = {});

}  // namespace bertpretrain
