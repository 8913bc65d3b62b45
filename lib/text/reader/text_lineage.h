#pragma once
// FILE.lineage.json beside a file of text: from which files it was made.

#include <filesystem>
#include <optional>
#include <string_view>

#include "core/files/file_digest.h"

namespace bertpretrain {

/// The end of such a file's name. Commands that read a folder of documents leave these files out.
inline constexpr std::string_view text_lineage_ending = ".lineage.json";

/// TEXT.lineage.json
std::filesystem::path text_lineage_file(std::filesystem::path text);

/// Returns what TEXT.lineage.json says of the text; nothing where it is missing or cannot be read. Of an object's address this
/// takes a request or two. @throws DistributedError where the store cannot be reached
std::optional<FileDigest> recorded_digest(const std::filesystem::path& text);

/// Refuses a text or vocabulary on this machine that is shorter than its record says: a copy that broke off.
/// @throws DataError naming both sizes
void require_whole_text(const std::filesystem::path& text);

/// Returns the inputs that TEXT.lineage.json names; none where it is missing or cannot be read, and none, with a warning, where
/// it describes a file with another digest. @throws as recorded_digest()
std::vector<FileDigest> origin_of_text(const std::filesystem::path& text, const FileDigest& digest);

/// Removes TEXT.lineage.json, if it is there.
void remove_text_lineage(const std::filesystem::path& text);
/// Writes TEXT.lineage.json with the digests of the text and of what it was made from. @throws DataError
void write_text_lineage(const std::filesystem::path& text, FileDigest digest, std::vector<FileDigest> made_from);

}  // namespace bertpretrain
