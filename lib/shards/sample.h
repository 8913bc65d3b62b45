#pragma once
// One training sample, before it becomes a row.

#include <cstdint>
#include <span>
#include <vector>

#include "shards/masking.h"
#include "shards/sentence_pairs.h"
#include "shards/shard_reader.h"

namespace bertpretrain {

struct Sample {
    SentencePair pair;  ///< its tokens already masked
    MaskedTokens masked;
};

struct SampleRules {
    PairSettings pairs;
    MaskingSettings masking;
    SpecialIds special_ids;
    std::int32_t vocabulary_size = 0;
    std::uint64_t seed = 0;
    std::int64_t duplicate_factor = 1;
};

/// All samples of one document, duplicate by duplicate: a pure function of its arguments.
/// @param document the place in `documents`
/// @param document_number the document's place in the whole corpus, which its random numbers hang on
std::vector<Sample> make_samples(const std::vector<Document>& documents, std::size_t document, std::uint64_t document_number,
                                 const SampleRules& rules);

/// The rows that a shard stores for these samples, padded with zeros.
ShardRows to_rows(std::span<const Sample* const> samples, std::int64_t sequence_length, std::int64_t max_predictions);

}  // namespace bertpretrain
