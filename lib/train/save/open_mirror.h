#pragma once
// Opens a run's mirror at its start, and refuses that of another run.

#include <memory>

#include "checkpoint/checkpoint_mirror.h"
#include "plan/experiment_config.h"

namespace bertpretrain {

/// For rank 0. Without any local checkpoint a start needs the mirror, because that may hold the run's checkpoints; with one, a
/// mirror that fails is a warning, and the first upload opens it again. The run's id is kept in the mirror; a start that needs
/// the mirror takes it from there. @param id the file with the run's id  @returns null where the settings name no mirror
/// @throws ConfigError when the mirror is another run's: it has no checkpoint of the local ones' history, or if there are no
///         local ones, its settings differ in what a resumed run may not change (batch sizes are compared later, when known)
/// @throws Error as CheckpointMirror::open()
std::shared_ptr<CheckpointMirror> open_mirror(const ExperimentConfig& settings, const CheckpointStore& store,
                                              const std::filesystem::path& id);

}  // namespace bertpretrain
