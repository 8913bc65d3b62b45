#pragma once
// Before each step, all ranks wait for their samples and agree on what to do next.

#include <exception>
#include <optional>

#include "batches/batch_loader.h"
#include "parallel/world.h"
#include "telemetry/phase_clock.h"
#include "train/step/step_counts.h"
#include "train/stop/stop_request.h"

namespace bertpretrain {

/// What all ranks do next.
struct StepOpening {
    GlobalBatch batch;           ///< this rank's samples
    StepCounts counts;           ///< of all ranks
    StopReason stop;             ///< the largest of all ranks' reasons to stop; if there is one, there may be no batch
    bool save = false;           ///< whether some rank was asked to save a checkpoint
    bool devices = false;        ///< whether the ranks' device readings are gathered in this step
    std::exception_ptr failure;  ///< not null: a rank cannot read its samples; all ranks get its error and no batch
};

/// Blocks until all ranks have their samples or one was asked to stop; a signal to any rank ends the wait of all within some
/// seconds. All ranks call it together. An error of BatchLoader::next on any rank is returned, not thrown, so that the caller can
/// save first. @param devices whether this rank asks for device readings
/// @throws DistributedError when a rank is lost
StepOpening open_step(World& world, BatchLoader& loader, StopRequest& requests, PhaseClock& clock, bool devices = false);

}  // namespace bertpretrain
