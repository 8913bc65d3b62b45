#pragma once
// How long, and for how much, a run trained until it was good enough.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/run_history.h"

namespace bertpretrain {

/// A number of metrics.jsonl and what it shall reach: at most for losses and perplexity, at least for accuracies.
struct Target {
    std::string key;
    double value = 0;

    /// @param text such as "held_out_mlm_loss=3.2" @throws ConfigError for a key that is no loss, perplexity or accuracy
    static Target parse(std::string_view text);
    bool is_reached_by(double measured) const;
};

/// When a run first reached a target; time includes restarts and the steps that they cost.
struct Reached {
    std::int64_t step = 0, samples = 0;
    Spent spent;
};
std::optional<Reached> first_reached(const RunHistory& run, const Target& target);

/// A row per run: step, sequences, hours, accelerator-hours, restarts, cost, and its cost (without a price: its
/// accelerator-hours) as a multiple of the first run's.
/// @param price of an accelerator for an hour
std::vector<std::vector<std::string>> target_rows(const std::vector<RunHistory>& runs, const Target& target,
                                                  const std::optional<double>& price);

}  // namespace bertpretrain
