#pragma once
// From what was asked for to what will be done.

#include "parallel/launch_environment.h"
#include "plan/facts.h"
#include "plan/run_plan.h"

namespace bertpretrain {

/// Decides every setting that is left to the program, once: "auto", null, and what depends on the machine, the number of ranks,
/// the data or the checkpoint. A pure function of its arguments.
/// @param checkpoint null for a fresh start
/// @throws ConfigError for settings that this machine, data or number of ranks cannot meet
/// @throws CheckpointError when the checkpoint's choice of kernels or matmul libraries makes no sense, or a fresh start needs the
///         model of initialization.init_from, which cannot be read
RunPlan resolve(const RequestedExperiment& requested, const Launch& launch, const MachineFacts& machine, const DataFacts& data,
                const CheckpointFacts* checkpoint);

}  // namespace bertpretrain
