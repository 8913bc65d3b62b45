#pragma once
// Rows as shards hold them, put together from several shards.

#include <cstdint>

#include "shards/sample.h"

namespace bertpretrain {

/// Bytes of one row in memory.
constexpr std::int64_t bytes_of_row(std::int64_t sequence_length, std::int64_t max_predictions) {
    return sequence_length * (4 + 1 + 1) + max_predictions * (4 + 4) + 1;
}

/// Copies row `from_row` over row `to_row`; `to` has the same sequence length and room for at least as many predictions.
void copy_row(const ShardRows& from, std::int64_t from_row, ShardRows& to, std::int64_t to_row);

}  // namespace bertpretrain
