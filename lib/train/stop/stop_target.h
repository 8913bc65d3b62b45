#pragma once
// Decides when a run has reached the loss at which it shall end (schedule.stop_at).

#include <cstdint>
#include <optional>
#include <string>

#include "checkpoint/training_progress.h"
#include "optimizer/schedule.h"

namespace bertpretrain {

/// A target and the value that reached it.
struct ReachedTarget {
    std::string key;  ///< of metrics.jsonl
    double target = 0, value = 0;
};

/// Has the same state on all ranks if it is given the same losses.
class StopTarget {
public:
    explicit StopTarget(const StopAtConfig& config) : config_(config) {}

    /// Adds a step's loss, in nats. Ignores a loss that is not finite, because that step's update is skipped.
    void add_step(double mlm_loss);
    /// Adds the loss of an evaluation on held-out text, in nats.
    void add_evaluation(double held_out_mlm_loss);

    /// Returns the target that was reached first; nullopt: none yet.
    const std::optional<ReachedTarget>& reached() const { return reached_; }

    /// Returns the state to save; nullopt if no target needs one.
    std::optional<SmoothedLoss> state() const;
    /// Continues from a saved state. @param saved nullopt: of a run that had no such target; averages from here on
    void restore(const std::optional<SmoothedLoss>& saved);

private:
    void compare(const char* key, double value, double target);

    StopAtConfig config_;
    SmoothedLoss loss_;
    std::optional<ReachedTarget> reached_;
};

}  // namespace bertpretrain
