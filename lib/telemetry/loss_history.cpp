#include "telemetry/loss_history.h"

#include <cmath>
#include <utility>

namespace bertpretrain {

void LossHistory::add(const StepRecord& record) {
    if (std::isfinite(record.mlm_loss)) {
        sum_since_ += record.mlm_loss;
        ++steps_since_;
    }
    const bool is_full = points_.empty() || points_.back().count == steps_per_point_;
    if (is_full && points_.size() == most_points) halve_points();
    if (is_full) points_.emplace_back();
    Sum& last = points_.back();
    last.steps += static_cast<double>(record.step);
    last.losses += record.mlm_loss;
    ++last.count;
}

void LossHistory::add(const EvaluationRecord& record) {
    if (evaluations_.size() == most_points) halve_evaluations();
    evaluations_.push_back({record, std::exchange(sum_since_, 0), std::exchange(steps_since_, 0)});
}

/// Merges each two neighbours. Requires `most_points` points, each of steps_per_point_ steps.
void LossHistory::halve_points() {
    for (std::size_t i = 0; i < most_points / 2; ++i) {
        const Sum &first = points_[2 * i], &second = points_[2 * i + 1];
        points_[i] = {first.steps + second.steps, first.losses + second.losses, first.count + second.count};
    }
    points_.resize(most_points / 2);
    steps_per_point_ *= 2;
}

void LossHistory::halve_evaluations() {
    for (std::size_t i = 0; i < most_points / 2; ++i) {
        const EvaluatedLoss& first = evaluations_[2 * i];
        EvaluatedLoss second = evaluations_[2 * i + 1];
        second.training_loss_sum += first.training_loss_sum;
        second.training_steps += first.training_steps;
        evaluations_[i] = second;
    }
    evaluations_.resize(most_points / 2);
}

ChartPoints LossHistory::training() const {
    ChartPoints means;
    for (const Sum& point : points_) {
        const auto count = static_cast<double>(point.count);
        means.emplace_back(point.steps / count, point.losses / count);
    }
    return means;
}

}  // namespace bertpretrain
