#pragma once
// Puts a run's times on one monotonic clock.

#include <vector>

#include "telemetry/events_file.h"
#include "telemetry/metrics_file.h"

namespace bertpretrain {

/// The time from a start to the last record before the next start.
struct Session {
    double begin = 0, end = 0;    ///< seconds since 1970 UTC, unless the system clock was changed during the run
    std::int64_t first_step = 0;  ///< steps completed before it
    std::int64_t ranks = 1;
    std::int64_t lost_steps = 0;  ///< number of its steps that the next session repeated
    bool begins_phase = false;    ///< the first of a later phase, and so no restart
};

/// Returns a run's sessions, at least one, and sets the times of its records to the same clock. A session begins at the time of
/// its first event, but not before the previous session's end. Times within a session come from elapsed_seconds of records and
/// events, or from their wall-clock times if they have none. Changes of the system clock thus affect no duration.
/// @param metrics must contain at least one step; its times are modified
std::vector<Session> put_on_one_clock(Metrics& metrics, const std::vector<RunEvent>& events);

}  // namespace bertpretrain
