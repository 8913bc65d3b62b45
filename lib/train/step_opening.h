#pragma once
// Between two steps: all ranks wait for their samples and agree on what comes next.

#include <exception>
#include <optional>

#include "batches/batch_loader.h"
#include "parallel/world.h"
#include "telemetry/phase_clock.h"
#include "train/step_counts.h"
#include "train/stop_request.h"

namespace bertpretrain {

/// What all ranks do next.
struct StepOpening {
    GlobalBatch batch;           ///< of this rank
    StepCounts counts;           ///< of all ranks
    int signal = 0;              ///< not 0: some rank was asked to stop by it; there may be no batch then
    bool save = false;           ///< some rank was asked for a checkpoint
    std::exception_ptr failure;  ///< not null: a rank cannot read its samples; all ranks have its error, and no batch
};

/// All ranks call it together. A signal to any rank ends the wait of all for their data within some seconds.
/// What BatchLoader::next throws on any rank is returned, not thrown: the caller saves what it has first.
/// @throws DistributedError when a rank is lost
StepOpening open_step(World& world, BatchLoader& loader, StopRequest& requests, PhaseClock& clock);

}  // namespace bertpretrain
