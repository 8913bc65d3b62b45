#pragma once
// Builds a run from its settings; every refusal comes before the first step.

#include <filesystem>

#include "parallel/launch_environment.h"
#include "train/trainer.h"

namespace bertpretrain {

/// The device that this rank computes on, by the rule of resolve().
at::Device device_of_rank(const RequestedExperiment& experiment, const Launch& launch);
/// Connects the ranks. All of them call it together. @throws DistributedError when one is missing
std::unique_ptr<World> connect_ranks(const RequestedExperiment& experiment, const Launch& launch, at::Device device);

/// A run's folder, and by rank whether it sees rank 0's.
struct OpenedFolder {
    std::unique_ptr<RunFolder> folder;
    std::vector<bool> seen_by;
};
/// Takes the folder on rank 0, and joins it on the other ranks that see it. All ranks call it together.
/// @throws ConfigError on all ranks, as RunFolder
OpenedFolder open_run_folder(ControlGroup& ranks, const std::filesystem::path& path);

/// Resolves the plan, probes what must be measured, and builds the parts. All ranks call it together; a refusal on one is a
/// refusal on all.
/// @param clock told when a part of the start is done @param output the run's folder @param device this rank's
/// @throws Error of every kind, before any training
TrainerParts make_trainer_parts(const RequestedExperiment& experiment, const std::filesystem::path& output,
                                const ResumeRequest& resume, const Launch& launch, PhaseClock& clock,
                                std::unique_ptr<World> world, at::Device device);

/// Builds what computes a run's steps again: all parts but the folder, the held-out data and the run's probe. Writes no file. All
/// ranks call it together.
/// @param experiment settings of the run, whose evaluations are left out
/// @param kept a checkpoint of the run, whose choices of kernels, matmul libraries and passes are used; null: there is none
/// @throws Error of every kind
TrainerParts make_replay_parts(RequestedExperiment experiment, const CheckpointFacts* kept, const Launch& launch);

}  // namespace bertpretrain
