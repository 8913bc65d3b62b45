#pragma once
// The end of a process, which must not hang.

#include <string>

namespace bertpretrain {

/// What a process that trains has left to do after its last save: to take apart threads, connections and files.
inline constexpr double seconds_to_leave = 15;

/// Ends the process with `exit_code` unless it has ended by itself within so many seconds: a thread that is stuck in a read from
/// a disk that does not answer cannot be joined. `cause` is logged then. Of several calls the first counts. Returns at once;
/// never throws.
void limit_leaving(double seconds, int exit_code, const std::string& cause) noexcept;

}  // namespace bertpretrain
