#pragma once
// Before each step, all ranks wait for their samples and agree on what to do next.

#include <exception>
#include <optional>
#include <span>
#include <vector>

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

/// Agrees on one opening. In the usual case a rank's samples are ready before it needs them; then its word travels with another
/// message of the step before (word(), hear()), and open() sends nothing. All ranks call the same members together.
class StepOpener {
public:
    /// All references must outlive this object. @param devices whether this rank asks for device readings
    StepOpener(World& world, BatchLoader& loader, StopRequest& requests, PhaseClock& clock, bool devices = false)
        : world_(world), loader_(loader), requests_(requests), clock_(clock), devices_(devices) {}

    /// Returns what this rank tells the others now; does not wait for samples, but takes them in Phase::data if they are ready.
    /// Every rank has equally many numbers.
    std::vector<double> word();
    /// Takes the words of all ranks, in rank order.
    void hear(std::span<const double> of_all);

    /// Blocks until all ranks have their samples or one was asked to stop; a signal to any rank ends the wait of all within some
    /// seconds. Exchanges words until all agree. An error of BatchLoader::next on any rank is returned, not thrown, so that the
    /// caller can save first; never as a DistributedError, which means a lost rank.
    /// @throws DistributedError when a rank is lost
    StepOpening open();

private:
    /// Waits for the batch, at most two seconds or until a stop request.
    void wait_a_while();
    /// Distributes the failure of a rank; all ranks call it together.
    StepOpening failed_opening();

    World& world_;
    BatchLoader& loader_;
    StopRequest& requests_;
    PhaseClock& clock_;
    bool devices_;
    std::optional<GlobalBatch> batch_;  ///< this rank's, once it is there
    std::exception_ptr own_failure_;    ///< of reading it
    bool save_ = false;                 ///< whether a word so far asked to save
    bool some_rank_failed_ = false;
    std::optional<StepOpening> agreed_;  ///< once all ranks agree
};

}  // namespace bertpretrain
