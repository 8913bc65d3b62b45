#pragma once
// Writes one checkpoint from all ranks.

#include <filesystem>
#include <functional>
#include <vector>

#include "checkpoint/checkpoint_store.h"
#include "parallel/control_group.h"

namespace bertpretrain {

/// Every rank that shares rank 0's file system writes its pieces directly into the files. The others send theirs to rank 0 in
/// parts, of which rank 0 holds at most 64 MiB at a time (more with over 1024 ranks). Rank 0 completes the checkpoint. All ranks
/// call it together.
/// @param sees_store by rank: whether it shares the file system of rank 0's checkpoints
/// @param sign_of_life called after each part that this rank has written or sent; may be empty
/// @returns the checkpoint's folder, as rank 0 sees it
/// @throws CheckpointError on every rank when any rank fails; the partial checkpoint is then removed
std::filesystem::path save_together(ControlGroup& ranks, const CheckpointStore& store, const TrainingState& state,
                                    const std::vector<bool>& sees_store, const std::function<void()>& sign_of_life = {});

}  // namespace bertpretrain
