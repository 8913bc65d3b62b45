#pragma once
// Samples without padding, on the host: what a micro-batch is built from.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shards/build/sample.h"

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
};

/// The real tokens of some rows of shards. A row's list of masked positions ends at its first 0.
/// @param rows checked rows (check_rows)
/// @param selected_B which of them, in this order
/// @param numbers_B the selected rows' numbers in the order of the run
/// @param document_end if given, attention stays inside each document: a span ends after each token with this id ([SEP]) that is
/// not at a masked position, and at the row's end
/// @throws std::logic_error when a masked position lies outside its row's tokens, or the two sizes differ
UnpaddedSamples unpadded_samples(const ShardRows& rows, std::span<const std::int64_t> selected_B,
                                 std::vector<std::int64_t> numbers_B, std::optional<std::int32_t> document_end = {});

}  // namespace bertpretrain
