#pragma once
// What a run prints before its first step.

#include <string>

#include "plan/memory_plan.h"
#include "train/trainer.h"

namespace bertpretrain {

/// Logs the settings and what was decided: sizes, ranks, memory, device, libraries, folders. For rank 0.
/// @param space checkpoints' size beside the free space, in words
void announce(const TrainerParts& parts, const MemoryPlan& memory, const std::string& space);

}  // namespace bertpretrain
