#pragma once
// Monotonic and wall-clock time.

#include <chrono>

namespace bertpretrain {

/// Seconds on a monotonic clock with an arbitrary start.
inline double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Seconds since 1970 UTC. This clock may jump: use it for dates, not for durations.
inline double unix_seconds_now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace bertpretrain
