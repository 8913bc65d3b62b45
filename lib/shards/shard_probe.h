#pragma once
// The HDF5 library can crash on a damaged file; better that a child process does.

#include <filesystem>

namespace bertpretrain {

/// Opens `file` and reads all of it in a child process, so that a file which crashes or hangs the HDF5 library is found out
/// before this process opens it. Use it for files without a known checksum. Costs one reading of the whole file.
/// @throws DataError when the child died; a file that HDF5 refuses properly passes here and fails when it is opened
void probe_shard(const std::filesystem::path& file);

}  // namespace bertpretrain
