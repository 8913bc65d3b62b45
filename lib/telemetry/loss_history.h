#pragma once
// Keeps the losses of a run of any length in bounded memory.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "telemetry/chart_points.h"
#include "telemetry/step_record.h"

namespace bertpretrain {

/// An evaluation, and the training loss since the previous one.
struct EvaluatedLoss {
    EvaluationRecord evaluation;
    double training_loss_sum = 0;  ///< sum of the MLM loss over steps with a finite loss
    std::int64_t training_steps = 0;
};

/// Keeps up to `most_points` points of the training loss and as many evaluations. Beyond that, merges each two neighbours into
/// one. Shorter runs are kept exactly.
class LossHistory {
public:
    static constexpr std::size_t most_points = 4096;

    void add(const StepRecord& record);
    /// Evaluations must be added in the order of their steps.
    void add(const EvaluationRecord& record);

    /// Returns (step, MLM loss) points: means over steps_per_point() steps each, the last one over fewer. A mean that includes a
    /// non-finite loss is non-finite.
    ChartPoints training() const;
    std::size_t steps_per_point() const { return steps_per_point_; }
    /// Returns the evaluations. Of two merged ones, the later remains, with the training loss since the one before both.
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
    double sum_since_ = 0;  ///< sum of the finite losses since the last evaluation
    std::int64_t steps_since_ = 0;
};

}  // namespace bertpretrain
