#pragma once
// Copies rows as shards hold them, so that rows of several shards stand in one ShardRows.

#include <cstdint>

#include "shards/build/sample.h"

namespace bertpretrain {

/// Bytes of one row in memory.
constexpr std::int64_t bytes_of_row(std::int64_t sequence_length, std::int64_t max_predictions) {
    return sequence_length * (4 + 1 + 1) + max_predictions * (4 + 4) + 1;
}

/// Copies row `from_row` over row `to_row`. `to` must have the same sequence length and at least as many predictions per row.
/// The label of a row without one stays as it is.
void copy_row(const ShardRows& from, std::int64_t from_row, ShardRows& to, std::int64_t to_row);

}  // namespace bertpretrain
