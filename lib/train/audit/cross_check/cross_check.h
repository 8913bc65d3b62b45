#pragma once
// Finds hardware that computes wrongly while a run trains: at checked steps each rank also computes another rank's first
// micro-batch. A micro-batch's losses and gradients are a function of its samples and the weights, so their bits must be equal.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "batches/batch_loader.h"
#include "parallel/world.h"
#include "plan/run_plan.h"
#include "train/audit/cross_check/fault_location.h"
#include "train/step/step_opening.h"
#include "train/step/train_step.h"
#include "train/stop/hardware_error.h"

namespace bertpretrain {

/// Checks that the ranks of a run that cross-checks compute equal bits when their hardware is sound. All ranks call it together.
/// @throws ConfigError on all ranks, with the reason, where they need not
void refuse_unequal_bits(ControlGroup& ranks, const RunPlan& plan, at::Device device);

/// All ranks call the same members together. All arguments must outlive this object.
class CrossCheck {
public:
    CrossCheck(World& world, BatchLoader& loader, TrainStep& step, const FlatParameters& parameters, PhaseClock& clock);

    /// Begins the check of a step whose batch has a cross_check micro-batch. A single rank's check is done when it returns, as is
    /// that of a step in which some rank has one micro-batch only.
    /// @returns what TrainStep::run() must call after the first micro-batch; may be empty. It throws as this function does
    /// @throws HardwareError on all ranks where two ranks computed different bits, or a single rank's kernels differ from plain
    /// ATen by more than rounding explains. Names ranks, hosts and the first tensor that differs
    TrainStep::AfterFirst begin(std::int64_t step, const StepOpening& opening);

    /// The last step whose state is confirmed by a check in a later step, or with which the run began.
    std::int64_t agreed_step() const { return agreed_step_; }
    void begin_at(std::int64_t agreed_step) { agreed_step_ = agreed_step; }

private:
    using Digests = std::vector<std::uint64_t>;
    Digests digests(const MicroBatch& micro, const StepCounts& whole);
    void check_alone(std::int64_t step, const StepOpening& opening);
    /// @param checked the rank whose micro-batch `others` are of
    void compare(std::int64_t step, const StepCounts& whole, const Digests& own, std::int64_t checked, const Digests& others);
    std::vector<std::int64_t> locate(const Disagreement& found, std::int64_t step, const StepCounts& whole);
    std::vector<std::int64_t> unlike_reference(const Disagreement& found, const MicroBatch& micro, const StepCounts& whole);
    std::vector<SuspectRank> suspects(const std::vector<std::int64_t>& ranks);
    std::string name_of(std::size_t digest) const;

    World& world_;
    BatchLoader& loader_;
    TrainStep& step_;
    const FlatParameters& parameters_;
    PhaseClock& clock_;
    std::int64_t agreed_step_ = 0;
};

}  // namespace bertpretrain
