#pragma once
// Finds repeated rows and documents by hashes.

#include <cstdint>
#include <optional>
#include <vector>

#include "shards/shard_reader.h"

namespace bertpretrain {

/// Hashes of rows. Uses 17 bytes per row on average.
struct RowKeys {
    std::vector<std::uint64_t> rows;   ///< of a row's unmasked text, segments, label and masks
    std::vector<std::uint64_t> texts;  ///< of a row's unmasked text, segments and label
    /// The minimum hash over all passages of 13 tokens in a row's first segment, kept for an eighth of the hash values.
    /// Overlapping segments of one document mostly have the same minimum, wherever they start and end.
    std::vector<std::uint64_t> passages;

    /// @param rows checked rows (check_rows)
    void add(ShardRows rows);
    void add(const RowKeys& other);
};

struct Duplicates {
    std::int64_t rows = 0;              ///< rows equal to another one, including masks
    std::int64_t texts = 0;             ///< rows whose text equals another row's, ignoring masks
    std::int64_t held_out_trained = 0;  ///< held-out rows whose text also occurs in training rows
    /// Estimated share of rows, among those with a passage, from documents that the corpus contains more than once: their
    /// passage occurs more often than the duplicate factor. Each pass over a document yields a passage of its first segments at
    /// most once. nullopt if the factor is unknown.
    std::optional<double> repeated_documents;
};

/// @param duplicate_factor the manifest's
Duplicates count_duplicates(const RowKeys& training, const RowKeys& held_out, std::optional<std::int64_t> duplicate_factor);

}  // namespace bertpretrain
