#pragma once
// The HDF5 library can crash on a damaged file; better that a child process does.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"

namespace bertpretrain {

/// Runs `work` in a child process, which must need no other thread. Call it (and what follows) where no other thread is busy:
/// the child is born with the locks that others hold, and nobody there to release them. What `work` throws is ignored, what it
/// changes is lost.
/// @param what begins the message
/// @throws DataError when the child died of a signal, took ten minutes, or left by itself
void survive_in_child(const std::string& what, const std::function<void()>& work);

/// Opens `file` and reads all of it in a child process, so that a file which crashes or hangs the HDF5 library is found out
/// before this process opens it. Use it for files without a known checksum. Costs one reading of the whole file.
/// @throws DataError when the child died; a file that HDF5 refuses properly passes here and fails when it is opened
void probe_shard(const std::filesystem::path& file);

/// The same for many files, in up to `processes` (at least 1) children at once. @returns what is wrong with each, or nothing
std::vector<std::optional<DataError>> probe_shards(const std::vector<std::filesystem::path>& files, std::size_t processes);

}  // namespace bertpretrain
