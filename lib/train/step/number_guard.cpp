#include "train/step/number_guard.h"

#include <cmath>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

/// JSON has no infinity or NaN.
nlohmann::ordered_json number_or_null(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

}  // namespace

std::optional<NumberTrouble> NumberGuard::add(std::int64_t step, double loss, double grad_norm, bool skipped) {
    nlohmann::ordered_json details = {{"step", step}, {"loss", number_or_null(loss)}, {"grad_norm", number_or_null(grad_norm)}};
    if (skipped) {
        ++counts_.skipped;
        ++counts_.skipped_in_a_row;
        details["in_a_row"] = counts_.skipped_in_a_row;
        return NumberTrouble{
            "skipped_update", details,
            concat("step ", step, ": the ", std::isfinite(loss) ? "gradient" : "loss", " is not finite; the update was skipped (",
                   counts_.skipped, " so far, ", counts_.skipped_in_a_row, " in a row)")};
    }
    counts_.skipped_in_a_row = 0;
    const std::optional<LossSpike> spike = spikes_.add(loss);
    if (!spike) return std::nullopt;
    const bool said = last_spike_ == step - 1;
    last_spike_ = step;
    details["median"] = spike->median;
    details["deviations"] = spike->deviations;
    return NumberTrouble{"loss_spike", details,
                         said ? ""
                              : concat("step ", step, ": the loss jumped to ", fixed(loss, 4), ", ", fixed(spike->deviations, 1),
                                       " deviations above the median ", fixed(spike->median, 4), " of the previous steps")};
}

void NumberGuard::require_progress(std::int64_t step, std::optional<std::int64_t> saved) const {
    if (!is_stuck()) return;
    throw NumbersError(
        concat("step ", step, ": ", counts_.skipped_in_a_row, " updates in a row had a loss or a gradient that ",
               "is not finite (training.max_skipped_updates)\n  do: check the rows that events.jsonl names; lower ",
               "optimizer.learning_rate or lengthen the warm-up, and ",
               saved ? concat("resume from an earlier checkpoint with --resume STEP (the newest is of step ", *saved, ")")
                     : "start the same command again: nothing was saved, so the run starts from the beginning"));
}

}  // namespace bertpretrain
