#pragma once
// What file systems differ in: flushing folders, and limits on what may be written.

#include <string>

namespace bertpretrain {

/// Flushes an open file or folder to the disk (fsync). Some file systems (CIFS, FUSE) cannot flush folders: they count as
/// flushed.
/// @returns false, with errno set, if it failed
bool flush_handle(int handle);

/// Returns what to do about a write that failed for `reason` (errno), as the end of a message; "" where more space does not help.
std::string disk_advice(int reason);

}  // namespace bertpretrain
