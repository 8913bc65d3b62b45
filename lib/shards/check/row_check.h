#pragma once
// Checks that a shard's rows are valid training samples.

#include <cstdint>
#include <string>

#include "shards/shard_rows.h"

namespace bertpretrain {

/// Checks every value of `rows`. Ids must be in the vocabulary. The input mask must be ones, at least one, followed by zeros; in
/// rows without labels, documents' numbers (shard_rows.h) followed by zeros.
/// Segments, and labels where rows have them, must be 0 or 1. Masked positions must ascend within the tokens after [CLS],
/// followed by zeros only.
/// @param where the file's name, prefix of the message
/// @param first_row the index of rows[0] in its file
/// @throws DataError naming dataset, row, column, the value found and the values expected
void check_rows(const ShardRows& rows, std::int32_t vocabulary_size, const std::string& where, std::int64_t first_row = 0);

}  // namespace bertpretrain
