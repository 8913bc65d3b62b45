#pragma once
// The time and cost of a run until it reached a target.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/hourly_prices.h"
#include "reports/run_history.h"

namespace bertpretrain {

/// A key of metrics.jsonl and the value to reach: at most `value` for losses and perplexity, at least for accuracies.
struct Target {
    std::string key;
    double value = 0;

    /// @param text e.g. "held_out_mlm_loss=3.2"
    /// @throws ConfigError if the key is not a loss, perplexity, accuracy or macro-F1, or never has this value
    static Target parse(std::string_view text);
    bool is_reached_by(double measured) const;
};

/// The point where a run first reached a target. The time includes restarts and the steps that they repeated.
struct Reached {
    std::int64_t step = 0, samples = 0;
    Spent spent;
};
/// Returns nullopt if the run never reached the target.
std::optional<Reached> first_reached(const RunHistory& run, const Target& target);

/// Returns whether the run's metrics have the target's key at all.
bool is_measured(const RunHistory& run, const Target& target);

/// Returns "1.2500 USD"; "-" without a cost.
std::string cost_text(const std::optional<Money>& cost);

/// Returns a header row, then a row per run: step ("not reached", or "not measured"), sequences, hours, accelerator-hours,
/// restarts, cost, and accelerator-hours and cost as multiples of those of the first run that reached the target ("-" for costs
/// in different currencies).
std::vector<std::vector<std::string>> target_rows(const std::vector<RunHistory>& runs, const Target& target,
                                                  const HourlyPrices& prices);

}  // namespace bertpretrain
