#pragma once
// The losses of a run of any length in bounded memory.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "telemetry/chart_points.h"
#include "telemetry/step_record.h"

namespace bertpretrain {

/// An evaluation, and the training loss since the one before.
struct EvaluatedLoss {
    EvaluationRecord evaluation;
    double training_loss_sum = 0;  ///< MLM, over the steps with a finite loss
    std::int64_t training_steps = 0;
};

/// Keeps up to `most_points` points of the training loss and as many evaluations: when there are more, each two neighbours become
/// one. A shorter run is kept exactly.
class LossHistory {
public:
    static constexpr std::size_t most_points = 4096;

    void add(const StepRecord& record);
    /// In the order of their steps.
    void add(const EvaluationRecord& record);

    /// Means of steps_per_point() steps each, the last one of fewer: step and MLM loss. A mean with a loss that is not finite is
    /// not finite.
    ChartPoints training() const;
    std::size_t steps_per_point() const { return steps_per_point_; }
    /// Of two that became one, the later; its training loss is that since the one before both.
    const std::vector<EvaluatedLoss>& evaluations() const { return evaluations_; }

private:
    struct Sum {
        double steps = 0, losses = 0;
        std::size_t count = 0;
    };
    void halve_points();
    void halve_evaluations();

    std::vector<Sum> points_;
    std::size_t steps_per_point_ = 1;
    std::vector<EvaluatedLoss> evaluations_;
    double sum_since_ = 0;  ///< of the finite losses since the last evaluation
    std::int64_t steps_since_ = 0;
};

}  // namespace bertpretrain
