#pragma once
// What a sample is made by, and how it becomes a row.

#include <cstdint>
#include <span>

#include "shards/masking.h"
#include "shards/sentence_pairs.h"
#include "shards/shard_reader.h"

namespace bertpretrain {

struct SampleRules {
    PairSettings pairs;
    MaskingSettings masking;
    SpecialIds special_ids;
    std::int32_t vocabulary_size = 0;
    std::uint64_t seed = 0;
    std::int64_t duplicate_factor = 1;
};

/// `rows` rows of zeros.
ShardRows empty_rows(std::int64_t rows, std::int64_t sequence_length, std::int64_t max_predictions);

/// Puts [CLS] A [SEP] B [SEP], its mask, segments and label into an empty row.
/// @returns the row's tokens, to be masked in place
std::span<std::int32_t> put_pair(const Documents& documents, const SentencePair& pair, const SpecialIds& special_ids,
                                 ShardRows& rows, std::int64_t row);
/// Puts the positions and labels of at most max_predictions masked tokens into an empty row.
void put_masked(const MaskedTokens& masked, ShardRows& rows, std::int64_t row);

/// `b`'s rows after `a`'s, all of one shape.
ShardRows joined_rows(ShardRows a, const ShardRows& b);

}  // namespace bertpretrain
