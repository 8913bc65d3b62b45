#pragma once
// Which phase of a run trains next.

#include <cstddef>
#include <filesystem>
#include <vector>

#include "parallel/control_group.h"
#include "plan/training_phases.h"
#include "train/start/resume.h"

namespace bertpretrain {

/// Returns the index of the newest phase that has a checkpoint, in its folder or its mirror; 0: none has one. If that phase is
/// finished, its trainer ends at once, and the next phase follows. Rank 0 decides; all ranks call it together.
/// @throws ConfigError on all ranks: when the run's folder has other phases than the file, or a run without phases; when the
/// settings of an earlier phase have changed; and for `--resume STEP`, which names no phase
std::size_t choose_phase(ControlGroup& ranks, const std::vector<TrainingPhase>& phases, const std::filesystem::path& run,
                         const ResumeRequest& resume);

}  // namespace bertpretrain
