#pragma once
// Rows and documents that are there more than once, told by hashes.

#include <cstdint>
#include <optional>
#include <vector>

#include "shards/shard_reader.h"

namespace bertpretrain {

/// Hashes of some rows: 17 bytes each, on average.
struct RowKeys {
    std::vector<std::uint64_t> rows;   ///< of everything in a row, masks included
    std::vector<std::uint64_t> texts;  ///< of the text that its masks hide, and its segments
    /// Of the first segment's passage of 13 tokens with the least hash, for an eighth of all passages. Overlapping cuts of one
    /// document mostly agree in it, whatever their ends.
    std::vector<std::uint64_t> passages;

    /// @param rows checked rows (check_rows)
    void add(ShardRows rows);
    void add(const RowKeys& other);
};

struct Duplicates {
    std::int64_t rows = 0;              ///< equal to another in everything, masks included
    std::int64_t texts = 0;             ///< whose text equals another's, masks aside
    std::int64_t held_out_trained = 0;  ///< held-out rows whose text is also trained on
    /// Share of rows (of those long enough) from text that the shards hold more often than the duplicate factor lets any
    /// document give: it is in the corpus twice. A document's every pass holds a passage of its first segments once at most.
    /// None where the factor is not known.
    std::optional<double> repeated_documents;
};

/// @param duplicate_factor of the manifest
Duplicates count_duplicates(const RowKeys& training, const RowKeys& held_out, std::optional<std::int64_t> duplicate_factor);

}  // namespace bertpretrain
