#pragma once
// How a run spent its time, and the main cause of low utilisation.

#include <optional>
#include <string>

#include "reports/run_history.h"

namespace bertpretrain {

/// A run's seconds by activity. Their sum is the time of all its sessions.
struct TimeShares {
    double computing = 0;
    double data = 0;           ///< waiting for data within steps
    double communication = 0;  ///< waiting for other ranks within steps
    double evaluating = 0;
    double saving = 0;    ///< other time between steps: checkpoints, charts
    double starting = 0;  ///< from the start of a session to its first step
    double lost = 0;      ///< steps that were repeated after a restart

    double total() const { return computing + data + communication + evaluating + saving + starting + lost; }
    /// Returns the share of the time spent computing, 0 to 1.
    double utilisation() const { return total() > 0 ? computing / total() : 1; }
};

TimeShares time_shares(const RunHistory& run);

/// Returns a message if utilisation is below 90 %: the utilisation, the largest cause (data, communication, saving, small
/// batches, ...) and what to do. Otherwise nullopt.
std::optional<std::string> low_utilisation(const RunHistory& run, const TimeShares& shares);

}  // namespace bertpretrain
