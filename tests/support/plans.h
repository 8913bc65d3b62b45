#pragma once
// Plans for tests, resolved for an invented machine.

#include <stdexcept>
#include <string>

#include "plan/resolve.h"

namespace bertpretrain::testing {

/// Returns the plan of a fresh start, or of a resume from `checkpoint`. @param gpus number of GPUs per host
inline RunPlan plan_of(const RequestedExperiment& experiment, std::int64_t ranks = 1, std::int64_t gpus = 0,
                       const CheckpointFacts* checkpoint = nullptr) {
    Launch launch;
    launch.world_size = ranks;
    MachineFacts machine;
    machine.cores = 16;
    machine.gpus = gpus;
    return resolve(experiment, launch, machine, {}, checkpoint);
}

/// Returns the plan of a run that resumes from a checkpoint with these settings and this progress.
inline RunPlan resumed_plan(const RequestedExperiment& experiment, const TrainingProgress& progress, std::int64_t ranks = 1,
                            std::int64_t gpus = 0) {
    const CheckpointFacts checkpoint{experiment.settings, progress};
    return plan_of(experiment, ranks, gpus, &checkpoint);
}

/// Returns what the plan says of a setting. @throws std::out_of_range where it says nothing
inline PlannedValue value_of(const RunPlan& plan, const std::string& path) {
    for (const PlannedValue& value : plan.values())
        if (value.path == path) return value;
    throw std::out_of_range(path);
}

}  // namespace bertpretrain::testing
