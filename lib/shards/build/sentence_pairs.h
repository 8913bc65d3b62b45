#pragma once
// Splits documents into pairs of segments with the algorithm of BERT's create_pretraining_data.py.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "shards/build/documents.h"
#include "shards/rng.h"

namespace bertpretrain {

struct PairSettings {
    std::int64_t sequence_length = 128;       ///< maximum tokens of a pair including its 3 special tokens; 5 to 65,536
    double short_sequence_probability = 0.1;  ///< probability that a document uses a random shorter target length
    /// How to label a pair whose second segment was drawn from the same document, because ten draws found no other: as a random
    /// next sentence (Google's script), or as the actual next sentence (NVIDIA's script and our default).
    bool same_document_counts_as_random = false;
};

/// Two ranges of tokens in Documents: A and B of [CLS] A [SEP] B [SEP].
struct SentencePair {
    std::uint32_t a_begin = 0, b_begin = 0;
    std::uint16_t a_size = 0, b_size = 0;
    bool is_random_next = false;

    std::size_t length() const { return std::size_t{a_size} + b_size + 3; }
};

/// Returns the number of tokens in all pairs, including [CLS] and [SEP].
std::int64_t total_length(std::span<const SentencePair> pairs);

/// Splits one document into pairs. Half of them take their second segment from another document of `documents`.
/// The result is a pure function of the arguments and of the numbers that `rng` returns.
/// @param emit called with each pair, in order
/// Source: google-research/bert @eedf571, NVIDIA DeepLearningExamples @56ccaf8.
void build_pairs(const Documents& documents, std::size_t document, const PairSettings& settings, Rng& rng,
                 const std::function<void(const SentencePair&)>& emit);

}  // namespace bertpretrain
