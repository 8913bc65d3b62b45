#pragma once
// Computes steps of a run again, from its start or from any of its checkpoints. Writes no file.

#include <cstdint>
#include <optional>
#include <vector>

#include "telemetry/phase_clock.h"
#include "telemetry/step_record.h"
#include "train/audit/audit.h"
#include "train/trainer.h"

namespace bertpretrain {

/// All ranks call the same members together.
class Replay {
public:
    /// @param parts of make_replay_parts()  @param requests must outlive this object
    Replay(TrainerParts parts, StopRequest& requests);

    /// Takes the state of a checkpoint; null: the state that the run started from.
    /// @throws CheckpointError when the checkpoint is damaged
    void begin(const CheckpointReader* checkpoint);

    /// Completed updates; -1 before begin().
    std::int64_t step() const { return step_; }

    /// Computes the next step. Fills in what the settings decide: step, samples, losses, accuracy, gradient norm, learning rate.
    /// @param peak learning rate of the schedule
    /// @returns nullopt where a signal asked to stop
    std::optional<StepRecord> next(const ScheduleConfig& schedule, double peak);

    /// Compares weights and moments with a checkpoint of step(), in the order of the model's layout: weights, then moments.
    /// @throws CheckpointError when it is damaged
    std::vector<TensorComparison> compare_with(const CheckpointReader& checkpoint) const;

    const TrainerParts& parts() const { return parts_; }

private:
    TrainerParts parts_;
    StopRequest& requests_;
    PhaseClock clock_;
    StopAgreement stop_;
    std::int64_t step_ = -1, updates_before_ = 0, skipped_ = 0;
};

}  // namespace bertpretrain
