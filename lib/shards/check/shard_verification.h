#pragma once
// Verifies shard files before the HDF5 library opens them.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/error.h"
#include "shards/manifest.h"

namespace bertpretrain {

/// The result of verify_shards for one file.
struct VerifiedShard {
    std::optional<DataError> problem;  ///< nullopt: the file is safe to open
    std::int64_t crc32 = 0;            ///< of the file's bytes; valid if there is no problem
};

/// Compares each file's size and checksum with the manifest's record. A file without a record is read in a child process.
/// Remembers files that passed, so this process does not verify them again until they change. A run thus reads all its shards
/// once at the start, at disk speed.
/// @param manifest of the files' folder
/// @param threads number of files to read at once, at least 1
/// @returns one result per file, in order
std::vector<VerifiedShard> verify_shards(const std::vector<std::filesystem::path>& files, const std::optional<Manifest>& manifest,
                                         std::size_t threads);

}  // namespace bertpretrain
