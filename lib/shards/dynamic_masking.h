#pragma once
// Other tokens hidden each time a stored row is used: what a shard hides, its labels give back.

#include <cstdint>
#include <span>

#include "shards/masking.h"
#include "shards/shard_reader.h"

namespace bertpretrain {

struct DynamicMasking {
    MaskingSettings masking;  ///< a row's predictions are not limited by its shard's: max_predictions counts
    SpecialIds special_ids;
    std::int32_t vocabulary_size = 0;  ///< of the vocabulary: what a tenth of the hidden tokens becomes one of
    std::uint64_t seed = 0;
};

/// The rules for rows of a vocabulary.
/// @param rate share of a row's tokens that is hidden
/// @param model_vocab_size ids that rows may have: at least the vocabulary's size
DynamicMasking dynamic_masking(const Vocabulary& vocabulary, double rate, bool whole_words, std::int64_t sequence_length,
                               std::int64_t model_vocab_size, std::uint64_t seed);

/// Puts the original tokens back where the stored masks are, and empties their lists.
/// @param rows checked rows (check_rows)
void restore_text(ShardRows& rows);

/// The rows with new masks, a pure function of the rules and each row's number; the lists are max_predictions wide.
/// @param rows checked rows
/// @param numbers_R of the rows in the order of the run, so that the same row is masked anew in each epoch
/// @throws DataError for a row that does not begin with [CLS]
ShardRows mask_anew(ShardRows rows, std::span<const std::int64_t> numbers_R, const DynamicMasking& rules);

}  // namespace bertpretrain
