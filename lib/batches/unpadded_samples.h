#pragma once
// Samples without padding, on the host: what a micro-batch is built from.

#include <cstdint>
#include <optional>
#include <vector>

#include "shards/dynamic_masking.h"

namespace bertpretrain {

/// B samples whose T tokens follow one another, with M masked positions.
struct UnpaddedSamples {
    std::vector<std::int64_t> lengths_B;  ///< tokens of each sample; their sum is T
    std::vector<std::int64_t> numbers_B;  ///< the samples' numbers in the order of the whole run
    std::vector<std::int64_t> input_ids_T;
    std::vector<std::int64_t> token_type_ids_T;        ///< 0 or 1; empty: all 0
    std::vector<std::int64_t> masked_rows_M;           ///< index into T
    std::vector<std::int64_t> masked_labels_M;         ///< the original token there
    std::vector<std::int64_t> next_sentence_labels_B;  ///< 1: the second segment is a random one; empty: all 0
    /// Tokens of each span within which tokens attend to each other. Every sample is one span or several. Empty: lengths_B.
    std::vector<std::int64_t> attention_lengths_A;
    /// Whether each of those spans is a sequence of its own, a document of a packed row: its positions count from its start.
    bool is_packed = false;
};

/// Returns one sample, the real tokens of a row. The row's list of masked positions ends at its first 0. In a packed row
/// (shard_rows.h) each document is a span of attention, with any document_end.
/// @param rows checked rows (check_rows)
/// @param number of the sample in the order of the run
/// @param masking rules for masks that replace the row's; null: the row's stay
/// @param document_end if given, attention stays inside each document: a span ends after each token with this id ([SEP]) in the
/// original text, and at the row's end
/// @throws DataError as mask_again()  @throws std::logic_error when a masked position lies outside the row's tokens
UnpaddedSamples unpadded_sample(const ShardRows& rows, std::int64_t row, std::int64_t number,
                                const DynamicMasking* masking = nullptr, std::optional<std::int32_t> document_end = {});

}  // namespace bertpretrain
