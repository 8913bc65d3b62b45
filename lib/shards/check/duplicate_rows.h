#pragma once
// Finds repeated rows by hashes.

#include <cstdint>
#include <vector>

#include "shards/shard_rows.h"

namespace bertpretrain {

/// Hashes of rows. Uses 16 bytes per row.
struct RowKeys {
    std::vector<std::uint64_t> rows;   ///< of a row's unmasked text, segments, label and masks
    std::vector<std::uint64_t> texts;  ///< of a row's unmasked text, segments and label

    /// Appends the keys of checked rows (check_rows).
    /// @param unmasked the same rows with their original text (restore_text)
    void add(const ShardRows& stored, const ShardRows& unmasked);
    void add(const RowKeys& other);
};

struct Duplicates {
    std::int64_t rows = 0;              ///< rows equal to another one, including masks
    std::int64_t texts = 0;             ///< rows whose text equals another row's, ignoring masks
    std::int64_t held_out_trained = 0;  ///< held-out rows whose text equals a training row's, ignoring masks
};

Duplicates count_duplicates(const RowKeys& training, const RowKeys& held_out);

}  // namespace bertpretrain
