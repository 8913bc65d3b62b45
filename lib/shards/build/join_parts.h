#pragma once
// Makes a complete folder of the shards that several parts of a build have made.

#include <filesystem>

#include "shards/build/build_part.h"
#include "shards/manifest.h"

namespace bertpretrain {

/// Checks that a folder has all parts, that all were made of the same text with the same settings, and that the shards are
/// unchanged (size and CRC-32). Then writes manifest.json and the card and removes the parts' files. A folder that is complete
/// already keeps its manifest.
/// @throws DataError naming the parts that are missing or not complete, and for shards or a vocabulary that changed
/// @throws ConfigError if the folder has neither parts nor a manifest, or a process is making a part
Manifest join_parts(const std::filesystem::path& folder);

/// Whether a file holds the tokens of a record, and the same bytes if it has rules of its own: of a list of tokens, a folder has
/// the tokens as Vocabulary::write() writes them. @throws DataError when it is no vocabulary
bool is_vocabulary_of(const VocabularyRecord& record, const std::filesystem::path& file);

/// Completes a folder whose shards are there: writes the manifest, and README.md unless a person has completed it with a licence.
void complete_folder(const std::filesystem::path& folder, const Manifest& manifest);

}  // namespace bertpretrain
