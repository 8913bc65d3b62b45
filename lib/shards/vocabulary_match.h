#pragma once
// Whether shards and a model mean the same words by the same ids.

#include <filesystem>

namespace bertpretrain {

/// Compares a vocabulary with the one that a folder's manifest says its shards were made with; a folder without a manifest
/// passes.
/// @throws DataError when they differ, or one of the files is damaged or cannot be read
void refuse_other_vocabulary(const std::filesystem::path& shards, const std::filesystem::path& vocabulary);

}  // namespace bertpretrain
