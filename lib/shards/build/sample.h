#pragma once
// The rules for making samples, and how a sample is written to a row.

#include <cstdint>
#include <optional>
#include <span>

#include "shards/build/packed_text.h"
#include "shards/build/sentence_pairs.h"
#include "shards/masking.h"
#include "shards/shard_rows.h"

namespace bertpretrain {

struct SampleRules {
    PairSettings pairs;
    MaskingSettings masking;
    SpecialIds special_ids;
    std::int32_t vocabulary_size = 0;
    std::uint64_t seed = 0;
    std::int64_t duplicate_factor = 1;
    std::optional<PackSettings> packs{};  ///< if set, text is packed instead of paired, and samples have no labels
    std::int32_t padding = 0;             ///< the id after a row's last token
};

/// Returns `rows` rows of zeros.
ShardRows empty_rows(std::int64_t rows, std::int64_t sequence_length, std::int64_t max_predictions, bool has_labels = true);

/// Writes [CLS] A [SEP] B [SEP] and its input mask, segments and label to a row of zeros.
/// @returns the row's tokens, without padding, for the caller to mask in place
std::span<std::int32_t> put_pair(const Documents& documents, const SentencePair& pair, const SpecialIds& special_ids,
                                 ShardRows& rows, std::int64_t row);
/// Writes the positions and labels of at most max_predictions masked tokens to a row of zeros.
void put_masked(const MaskedTokens& masked, ShardRows& rows, std::int64_t row);

/// Returns `a`'s rows followed by `b`'s. Both must have the same sequence_length and max_predictions, and both labels or
/// neither.
ShardRows joined_rows(ShardRows a, const ShardRows& b);

}  // namespace bertpretrain
