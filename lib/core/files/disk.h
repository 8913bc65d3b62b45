#pragma once
// What file systems differ in.

namespace bertpretrain {

/// Flushes an open file or folder to the disk (fsync). Some file systems (CIFS, FUSE) cannot flush folders: they count as
/// flushed.
/// @returns false, with errno set, if it failed
bool flush_handle(int handle);

}  // namespace bertpretrain
