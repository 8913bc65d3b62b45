#pragma once
// Plans for tests: resolved for a made-up machine.

#include "plan/resolve.h"

namespace bertpretrain::testing {

/// The plan of a fresh start. @param gpus of each host
inline RunPlan plan_of(const RequestedExperiment& experiment, std::int64_t ranks = 1, std::int64_t gpus = 0,
                       const CheckpointFacts* checkpoint = nullptr) {
    Launch launch;
    launch.world_size = ranks;
    MachineFacts machine;
    machine.cores = 16;
    machine.gpus = gpus;
    return resolve(experiment, launch, machine, {}, checkpoint);
}

/// The plan of a run that resumes from a checkpoint with these settings and this progress.
inline RunPlan resumed_plan(const RequestedExperiment& experiment, const TrainingProgress& progress, std::int64_t ranks = 1,
                            std::int64_t gpus = 0) {
    const CheckpointFacts checkpoint{experiment.settings, progress};
    return plan_of(experiment, ranks, gpus, &checkpoint);
}

}  // namespace bertpretrain::testing
