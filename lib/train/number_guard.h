#pragma once
// Watches a run's numbers: updates that had to be skipped, losses that jump.

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "train/loss_spikes.h"

namespace bertpretrain {

/// What is to be told of a step.
struct NumberTrouble {
    std::string event;  ///< "skipped_update" or "loss_spike"
    nlohmann::ordered_json details;
    std::string warning;  ///< for people; empty when it was said of the step before
};

class NumberGuard {
public:
    struct Counts {
        std::int64_t skipped = 0, skipped_in_a_row = 0;
    };

    /// @param skipped_allowed  updates in a row that may be skipped, 0: any number
    /// @param spike_deviations as LossSpikes
    NumberGuard(std::int64_t skipped_allowed, double spike_deviations)
        : skipped_allowed_(skipped_allowed), spikes_(spike_deviations) {}

    /// What a run that goes on has counted before.
    void restore(const Counts& counts) { counts_ = counts; }
    const Counts& counts() const { return counts_; }

    /// @param skipped whether the update was not made, for the loss or the gradient was not finite
    /// @returns nothing for an ordinary step
    std::optional<NumberTrouble> add(std::int64_t step, double loss, double grad_norm, bool skipped);

    /// @throws NumbersError when too many updates in a row were skipped
    void require_progress(std::int64_t step) const;

private:
    std::int64_t skipped_allowed_;
    LossSpikes spikes_;
    Counts counts_;
    std::int64_t last_spike_ = -1;
};

}  // namespace bertpretrain
