#pragma once
// What must be known of a file before the HDF5 library opens it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/error.h"
#include "shards/manifest.h"

namespace bertpretrain {

/// What verify_shards found.
struct VerifiedShard {
    std::optional<DataError> problem;  ///< nothing: the file is safe to open
    std::int64_t crc32 = 0;            ///< of the file's bytes, where there is no problem
};

/// Compares each file's size and checksum with the manifest's record, or, where there is none, reads it in a child process. A
/// file that passed is not read again by this process while it stays the same: a run reads its shards through once, at
/// its start, at the speed of the disk.
/// @param manifest of the files' folder
/// @param threads files read at once, at least 1
/// @returns an answer for each file
std::vector<VerifiedShard> verify_shards(const std::vector<std::filesystem::path>& files, const std::optional<Manifest>& manifest,
                                         std::size_t threads);

}  // namespace bertpretrain
