#pragma once
// Masks different tokens each time a stored row is used. The labels of the stored masks restore the original text.

#include <cstdint>
#include <span>

#include "shards/masking.h"
#include "shards/shard_rows.h"

namespace bertpretrain {

struct DynamicMasking {
    MaskingSettings masking;  ///< its max_predictions applies, not the shard's
    SpecialIds special_ids;
    std::int32_t vocabulary_size = 0;  ///< random replacement ids are below this
    std::uint64_t seed = 0;
};

/// Returns the rules for rows made with `vocabulary`.
/// @param rate share of a row's tokens to mask
/// @param masks_specials whether [CLS] and [SEP] may be masked; not with whole_words
/// @param model_vocab_size number of ids that rows may contain; at least the vocabulary's size
/// @throws ConfigError if the vocabulary has no token for a role (Vocabulary::require_specials)
DynamicMasking dynamic_masking(const Vocabulary& vocabulary, double rate, bool whole_words, bool masks_specials,
                               std::int64_t sequence_length, std::int64_t model_vocab_size, std::uint64_t seed);

/// Restores the original tokens at the masked positions and clears the lists of positions and labels.
/// @param rows checked rows (check_rows)
void restore_text(ShardRows& rows);

/// Masks a row's tokens, a pure function of the rules, the tokens and the number.
/// @param tokens without padding, the original ones; modified in place
/// @param number the row's sample number in the run, which differs between epochs, so that the masks differ too
/// @throws DataError if the tokens do not begin with [CLS]
MaskedTokens mask_again(std::span<std::int32_t> tokens, std::int64_t number, const DynamicMasking& rules);

}  // namespace bertpretrain
