#pragma once
// FILE.lineage.json beside a file of text: from which files it was made.

#include <filesystem>
#include <string_view>

#include "core/files/file_digest.h"

namespace bertpretrain {

/// The end of such a file's name. Commands that read a folder of documents leave these files out.
inline constexpr std::string_view text_lineage_ending = ".lineage.json";

/// Returns the inputs that TEXT.lineage.json names; none where it is missing, cannot be read, or describes a file with another
/// digest. Of an object's address this takes a request or two. @throws DistributedError where the store cannot be reached
std::vector<FileDigest> origin_of_text(const std::filesystem::path& text, const FileDigest& digest);

/// Writes TEXT.lineage.json with the digests of the text and of what it was made from. @throws DataError
void write_text_lineage(const std::filesystem::path& text, FileDigest digest, std::vector<FileDigest> made_from);

}  // namespace bertpretrain
