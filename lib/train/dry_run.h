#pragma once
// A few steps of an experiment, with everything that belongs to a run, in a folder that is gone afterwards.

#include <cstdint>
#include <filesystem>
#include <memory>

#include "parallel/launch_environment.h"
#include "parallel/world.h"
#include "plan/experiment_config.h"
#include "train/stop_request.h"

namespace bertpretrain {

/// At rank 0 what happened; elsewhere all but `stopped_by` is 0.
struct DryRun {
    std::int64_t steps = 0;
    double step_seconds = 0;  ///< median, without the first
    double sequences_per_second = 0;
    double data_wait_share = 0;  ///< of the time of the same steps
    double held_out_mlm_loss = 0;
    std::uint64_t checkpoint_bytes = 0;  ///< written, and read back with every checksum compared
    double read_gbps = 0;
    int stopped_by = 0;  ///< the signal that ended it early; 0: none
};

/// All ranks together: `steps` full-size steps, one evaluation where the experiment has any, one checkpoint, which is read back.
/// Uses and keeps the world. @param beside the run's folder: the dry run's lies beside it, on the same file system
/// @throws Error of every kind, as the run itself would
DryRun dry_run(const RequestedExperiment& experiment, const std::filesystem::path& beside, std::int64_t steps,
               const Launch& launch, std::unique_ptr<World> world, at::Device device, StopRequest& requests);

}  // namespace bertpretrain
