#pragma once
// What the files beside a list of tokens say about its casing, which the tokens alone may not show.

#include <filesystem>
#include <optional>

#include "tokens/unicode/character_table.h"

namespace bertpretrain {

/// The end of the name of the record that `vocabulary` writes beside a list of tokens, as `extract` beside a text.
inline constexpr const char* vocabulary_record_ending = ".lineage.json";

/// Writes FILE.lineage.json with the file's digest and the casing of the text that it was made from. @throws DataError
void write_vocabulary_record(const std::filesystem::path& file, Casing casing);

/// Returns the casing that FILE.lineage.json records for a file of this digest; else the one that tokenizer_config.json records
/// beside a vocab.txt (do_lower_case, strip_accents), as transformers reads them. nullopt if neither says it, or if accents are
/// not stripped exactly where case is. Files that cannot be read say nothing.
std::optional<Casing> recorded_casing(const std::filesystem::path& file);

}  // namespace bertpretrain
