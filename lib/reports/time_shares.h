#pragma once
// Where a run's time went, and what keeps it from computing.

#include <optional>
#include <string>

#include "reports/run_history.h"

namespace bertpretrain {

/// Seconds of a run by what they were spent on; their sum is the time of all its sessions.
struct TimeShares {
    double computing = 0;
    double data = 0;           ///< steps waited for it
    double communication = 0;  ///< steps waited for other ranks
    double evaluating = 0;
    double saving = 0;    ///< between steps: checkpoints, pictures
    double starting = 0;  ///< until the first step of a session began
    double lost = 0;      ///< steps that were done again after a restart

    double total() const { return computing + data + communication + evaluating + saving + starting + lost; }
    /// Share of the time in which it computed, 0 to 1.
    double utilisation() const { return total() > 0 ? computing / total() : 1; }
};

TimeShares time_shares(const RunHistory& run);

/// Where utilisation is below 90 %: by how much, the largest cause (data, communication, saving, small batches, ...), and what to
/// do.
std::optional<std::string> low_utilisation(const RunHistory& run, const TimeShares& shares);

}  // namespace bertpretrain
