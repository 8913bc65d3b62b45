#pragma once
// Checks that shards and a model use the same vocabulary.

#include <filesystem>

namespace bertpretrain {

/// Compares a vocabulary's checksum with the one in the manifest of a folder of shards. Accepts a folder without a manifest.
/// @throws DataError if they differ, or one of the files is damaged or cannot be read
void refuse_other_vocabulary(const std::filesystem::path& shards, const std::filesystem::path& vocabulary);

}  // namespace bertpretrain
