#pragma once
// Makes a text of the parts that several processes have extracted.

#include <filesystem>

#include "text/extract_counts.h"

namespace bertpretrain {

/// Checks that OUTPUT has all parts (extracted_part.h), that all had the same inputs and settings, and that their texts are
/// unchanged (SHA-256). Then writes OUTPUT and OUTPUT.lineage.json, with the bytes that extract() gives them, and removes the
/// parts' files. Where OUTPUT is there, only removes what is left of the parts, and returns no counts but bytes_written.
/// @throws ConfigError if there is neither OUTPUT nor a part, or another process joins the parts
/// @throws DataError naming the parts that are missing or not complete, for parts that do not fit or were changed, and as
/// extract() when too many records are malformed or no document was found
ExtractCounts join_text(const std::filesystem::path& output);

}  // namespace bertpretrain
