#pragma once
// Documents to pairs of segments by the algorithm of BERT's create_pretraining_data.py.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "shards/documents.h"
#include "shards/rng.h"

namespace bertpretrain {

struct PairSettings {
    std::int64_t sequence_length = 128;       ///< of the whole pair with its three special tokens; 5 to 65,536
    double short_sequence_probability = 0.1;  ///< that a document aims at a random shorter length
    /// What a pair counts as where ten draws found no other document: Google's script says random, NVIDIA's and ours that
    /// the second segment follows the first.
    bool same_document_counts_as_random = false;
};

/// Two runs of tokens among Documents: A and B of [CLS] A [SEP] B [SEP].
struct SentencePair {
    std::uint32_t a_begin = 0, b_begin = 0;
    std::uint16_t a_size = 0, b_size = 0;
    bool is_random_next = false;

    std::size_t length() const { return std::size_t{a_size} + b_size + 3; }
};

/// Tokens of all pairs, [CLS] and [SEP] included.
std::int64_t total_length(std::span<const SentencePair> pairs);

/// Cuts one document into pairs. Half of them get their second part from another document of `documents`.
/// A pure function of its arguments and of what `rng` gives.
/// @param emit called with each pair, in order
/// Source: google-research/bert @eedf571, NVIDIA DeepLearningExamples @56ccaf8.
void build_pairs(const Documents& documents, std::size_t document, const PairSettings& settings, Rng& rng,
                 const std::function<void(const SentencePair&)>& emit);

}  // namespace bertpretrain
