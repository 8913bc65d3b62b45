#pragma once
// Checks that shards and a model use the same vocabulary.

#include <filesystem>

#include "shards/manifest.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {

/// Compares a vocabulary's checksum with the one in the manifest of a folder of shards. Accepts a folder without a manifest.
/// @throws DataError if they differ, or one of the files is damaged or cannot be read
void refuse_other_vocabulary(const std::filesystem::path& shards, const std::filesystem::path& vocabulary);

/// The same for files that have been read already. @param file of the vocabulary, and `shards`: named in the message
void refuse_other_vocabulary(const std::filesystem::path& shards, const Manifest& manifest, const std::filesystem::path& file,
                             const Vocabulary& vocabulary);

}  // namespace bertpretrain
