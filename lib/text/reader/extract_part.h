#pragma once
// Extracts a part of a text. Several processes, on one host or many, make the parts; join_text() makes the text of them.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/part.h"
#include "text/reader/extract.h"

namespace bertpretrain {

/// Returns the first file of a part and the end of its files: consecutive ones, so that a text is its parts one after the other.
/// Each part has about equally many bytes, as far as whole files allow it; it may have no file.
/// @param bytes the sizes of all files
std::pair<std::size_t, std::size_t> files_of_part(const std::vector<std::uint64_t>& bytes, const Part& part);

/// Writes the text of the part's files, as extract() would write it, to part_text_file(), and its record (extracted_part.h). A
/// part that is complete already stays as it is, if its text has the digest of its record.
/// @throws ConfigError when OUTPUT is there, for a pipe, where there are fewer files than parts, when another process makes this
/// part, or when another part had other inputs or settings  @throws DataError as extract(), except that a part may have no
/// document
ExtractCounts extract_part(const ExtractSettings& settings, const Part& part);

}  // namespace bertpretrain
