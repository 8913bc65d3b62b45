#pragma once
// Builds a run from its settings; every refusal comes before the first step.

#include <filesystem>

#include "parallel/launch_environment.h"
#include "train/trainer.h"

namespace bertpretrain {

/// Resolves the plan, probes what must be measured, and builds the parts. All ranks call it together; a refusal on one is a
/// refusal on all.
/// @param clock told when a part of the start is done @param output the run's folder
/// @throws Error of every kind, before any training
TrainerParts make_trainer_parts(const RequestedExperiment& experiment, const std::filesystem::path& output,
                                const ResumeRequest& resume, const Launch& launch, PhaseClock& clock);

/// The same for ranks that are connected already. @param device this rank's
TrainerParts make_trainer_parts(const RequestedExperiment& experiment, const std::filesystem::path& output,
                                const ResumeRequest& resume, const Launch& launch, PhaseClock& clock,
                                std::unique_ptr<World> world, at::Device device);

}  // namespace bertpretrain
