#pragma once
// Watches a run's numbers for skipped updates and loss spikes.

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "train/step/loss_spikes.h"

namespace bertpretrain {

/// A numerical problem of a step.
struct NumberTrouble {
    std::string event;  ///< "skipped_update" or "loss_spike"
    nlohmann::ordered_json details;
    std::string warning;  ///< for the log; empty for a spike right after another one
};

class NumberGuard {
public:
    struct Counts {
        std::int64_t skipped = 0, skipped_in_a_row = 0;
    };

    /// @param skipped_allowed  require_progress() throws at this many skipped updates in a row; 0: never
    /// @param spike_deviations as for LossSpikes
    NumberGuard(std::int64_t skipped_allowed, double spike_deviations)
        : skipped_allowed_(skipped_allowed), spikes_(spike_deviations) {}

    /// Sets the counts of a resumed run.
    void restore(const Counts& counts) { counts_ = counts; }
    const Counts& counts() const { return counts_; }

    /// @param skipped whether the update was skipped because loss or gradient was not finite
    /// @returns nullopt for an ordinary step
    std::optional<NumberTrouble> add(std::int64_t step, double loss, double grad_norm, bool skipped);

    /// Whether too many updates in a row were skipped.
    bool is_stuck() const { return skipped_allowed_ > 0 && counts_.skipped_in_a_row >= skipped_allowed_; }
    /// @param saved the run's last saved step  @throws NumbersError if is_stuck()
    void require_progress(std::int64_t step, std::optional<std::int64_t> saved) const;

private:
    std::int64_t skipped_allowed_;
    LossSpikes spikes_;
    Counts counts_;
    std::int64_t last_spike_ = -1;
};

}  // namespace bertpretrain
