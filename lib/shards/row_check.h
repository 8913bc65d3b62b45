#pragma once
// Whether a shard's rows mean what training takes them to mean.

#include <cstdint>
#include <string>

#include "shards/shard_reader.h"

namespace bertpretrain {

/// Checks every value of `rows`: ids inside the vocabulary, a mask of ones then zeros with at least one one, segments and
/// labels 0 or 1, masked positions ascending inside the tokens and after [CLS], nothing after the list's end.
/// @param where the file's name, begins the message
/// @param first_row the number of rows[0] in its file
/// @throws DataError naming row, column, the value found, and what was expected
void check_rows(const ShardRows& rows, std::int32_t vocabulary_size, const std::string& where, std::int64_t first_row = 0);

}  // namespace bertpretrain
