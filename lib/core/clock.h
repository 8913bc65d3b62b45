#pragma once
// Time for measuring, not for telling the date.

#include <chrono>

namespace bertpretrain {

/// Seconds of a clock that never goes back, from an arbitrary start.
inline double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace bertpretrain
