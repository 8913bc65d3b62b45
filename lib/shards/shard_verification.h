#pragma once
// What must be known of a file before the HDF5 library opens it.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/error.h"
#include "shards/manifest.h"

namespace bertpretrain {

/// Compares each file's size and checksum with the manifest's record, or, where there is none, tries it in a child process. A
/// file that passed is not looked at again by this process while it stays the same: a run reads its shards through once, at
/// its start, at the speed of the disk.
/// @param manifest of the files' folder
/// @param threads files looked at at once, at least 1
/// @returns what is wrong with each, or nothing
std::vector<std::optional<DataError>> verify_shards(const std::vector<std::filesystem::path>& files,
                                                    const std::optional<Manifest>& manifest, std::size_t threads);

}  // namespace bertpretrain
