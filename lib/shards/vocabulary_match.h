#pragma once
// Whether shards and a model mean the same words by the same ids.

#include <filesystem>

#include "shards/manifest.h"
#include "tokens/vocabulary.h"

namespace bertpretrain {

/// Compares a vocabulary with the one that a folder's manifest says its shards were made with; a folder without a manifest
/// passes.
/// @throws DataError when they differ, or one of the files is damaged or cannot be read
void refuse_other_vocabulary(const std::filesystem::path& shards, const std::filesystem::path& vocabulary);

/// The same for files that have been read already. @param file of the vocabulary, and `shards`: named in the message
void refuse_other_vocabulary(const std::filesystem::path& shards, const Manifest& manifest, const std::filesystem::path& file,
                             const Vocabulary& vocabulary);

}  // namespace bertpretrain
