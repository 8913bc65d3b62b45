#pragma once
// Runs a few steps of an experiment like a real run, in a temporary folder.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "parallel/launch_environment.h"
#include "parallel/world.h"
#include "plan/experiment_config.h"
#include "train/stop/stop_request.h"

namespace bertpretrain {

/// The result on rank 0; on other ranks all fields except `stopped_by` are 0.
struct DryRun {
    std::int64_t steps = 0;
    double step_seconds = 0;  ///< median, without the first step; the next two as well
    double sequences_per_second = 0;
    double data_wait_share = 0;  ///< share of the step time spent waiting for data
    double held_out_mlm_loss = 0;
    std::uint64_t checkpoint_bytes = 0;  ///< written and read back, with all checksums verified
    double read_gbps = 0;
    double burn_in_seconds = 0;  ///< with a cross check in every step (train/audit/cross_check); 0: none was asked for
    int stopped_by = 0;          ///< the signal that ended it early; 0: none
};

/// How long to run.
struct DryRunLength {
    std::int64_t steps = 5;      ///< at least 2
    double burn_in_seconds = 0;  ///< if not 0, as many steps as this takes, each with a cross check
};

/// Runs full-size steps, one evaluation if the experiment has any (none in a burn-in), and one save, and reads the checkpoint
/// back. All ranks call it together. Takes over the world. Removes its folder.
/// @param beside the run's folder; the dry run's folder is next to it, on the same file system
/// @throws Error of every kind that the run itself could throw: HardwareError where a burn-in finds hardware that computes
/// wrongly
DryRun dry_run(const RequestedExperiment& experiment, const std::filesystem::path& beside, const DryRunLength& length,
               const Launch& launch, std::unique_ptr<World> world, at::Device device, StopRequest& requests);

/// Returns one line for people. @param evaluates whether the experiment evaluates
std::string describe(const DryRun& run, bool evaluates);

}  // namespace bertpretrain
