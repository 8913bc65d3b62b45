#pragma once
// Time.

#include <chrono>

namespace bertpretrain {

/// Seconds of a clock that never goes back, from an arbitrary start.
inline double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Seconds since 1970 UTC, which may jump: for telling the date, not for measuring.
inline double unix_seconds_now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace bertpretrain
