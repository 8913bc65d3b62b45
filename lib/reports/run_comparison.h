#pragma once
// Compares the losses of two runs that should be alike: on two devices, two numbers of ranks, or by two versions.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/run_history.h"
#include "telemetry/chart.h"

namespace bertpretrain {

/// An MLM loss of both runs at the same step.
struct LossPair {
    std::int64_t step = 0;
    double a = 0, b = 0;

    /// Returns |a - b| / |a|; 0 if both are the same number, infinity if only one is finite or neither is.
    double relative_difference() const;
};

struct RunComparison {
    std::string name_a, name_b;
    std::vector<LossPair> held_out;  ///< at every step that both runs evaluated, in order
    std::vector<LossPair> training;  ///< at every step that both runs completed, in order

    /// @returns the held-out pair that differs most, the first of equals
    const LossPair& worst_held_out() const;
    /// @returns the training pair that differs most; nothing if there is none
    std::optional<LossPair> worst_training() const;
    /// Returns the number of steps whose training losses are the same float64.
    std::int64_t equal_training_steps() const;
    /// Returns whether no held-out loss differs by more than `bound` of run A's.
    bool alike(double bound) const { return worst_held_out().relative_difference() <= bound; }
};

/// Returns a relative difference in percent with three significant digits: 0.001 -> "0.1 %".
std::string percent_text(double relative_difference);

/// @throws ConfigError if no step was evaluated in both runs
RunComparison compare_runs(const RunHistory& a, const RunHistory& b);

/// Returns a header row, then a row per held-out pair: step, both losses, relative difference.
std::vector<std::vector<std::string>> comparison_rows(const RunComparison& comparison);

/// Returns the relative difference of the held-out and training losses over steps, in percent, with the bound as a level.
/// Infinite differences are gaps.
Chart comparison_chart(const RunComparison& comparison, double bound);

}  // namespace bertpretrain
