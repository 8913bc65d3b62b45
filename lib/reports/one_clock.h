#pragma once
// A run's times on one clock that never goes back.

#include <vector>

#include "telemetry/events_file.h"
#include "telemetry/metrics_file.h"

namespace bertpretrain {

/// From a start to the last sign of life before the next one.
struct Session {
    double begin = 0, end = 0;    ///< seconds since 1970 UTC, if the clock was not set meanwhile
    std::int64_t first_step = 0;  ///< completed steps at its begin
    std::int64_t ranks = 1;
    std::int64_t lost_steps = 0;  ///< of the steps that it took: so many were done again by the next
};

/// The sessions of a run, and the times of its records on the same clock: a session begins when its first event says, but not
/// before the end of the session before it; what happens in it follows after as many seconds as the records' and events'
/// elapsed_seconds tell, or their times where there is none. So a clock that was set back or forward changes no duration.
/// @param metrics with at least one step; its times are set
/// @returns at least one session
std::vector<Session> put_on_one_clock(Metrics& metrics, const std::vector<RunEvent>& events);

}  // namespace bertpretrain
