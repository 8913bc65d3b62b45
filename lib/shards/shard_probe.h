#pragma once
// The HDF5 library can crash on a damaged file; better that a child process does.

#include <filesystem>
#include <functional>
#include <string>

namespace bertpretrain {

/// Runs `work` in a child process, which must need no other thread. What it throws is ignored, what it changes is lost.
/// @param what begins the message
/// @throws DataError when the child died of a signal, took ten minutes, or left by itself
void survive_in_child(const std::string& what, const std::function<void()>& work);

/// Opens `file` and reads all of it in a child process, so that a file which crashes or hangs the HDF5 library is found out
/// before this process opens it. Use it for files without a known checksum. Costs one reading of the whole file.
/// @throws DataError when the child died; a file that HDF5 refuses properly passes here and fails when it is opened
void probe_shard(const std::filesystem::path& file);

}  // namespace bertpretrain
