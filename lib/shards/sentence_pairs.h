#pragma once
// Documents to pairs of segments, [CLS] A [SEP] B [SEP], by the algorithm of BERT's create_pretraining_data.py.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "shards/dice.h"
#include "tokens/vocabulary.h"

namespace bertpretrain {

/// Token ids, at least one.
using Sentence = std::vector<std::int32_t>;
/// At least one sentence.
using Document = std::vector<Sentence>;

struct PairSettings {
    std::int64_t sequence_length = 128;       ///< of the whole pair with its three special tokens; at least 5
    double short_sequence_probability = 0.1;  ///< that a document aims at a random shorter length
};

struct SentencePair {
    std::vector<std::int32_t> tokens;
    std::int32_t first_segment = 0;  ///< tokens of segment 0: [CLS], A and the first [SEP]
    bool is_random_next = false;
};

/// Cuts one document into pairs. Half of the pairs get their second part from another document of `documents`.
/// A pure function of its arguments and of what `dice` gives.
/// @param emit called with each pair, in order
/// Source: google-research/bert @eedf571, with NVIDIA's fix: where ten draws find no other document, the pair counts as
/// consecutive.
void build_pairs(const std::vector<Document>& documents, std::size_t document, const PairSettings& settings,
                 const SpecialIds& special_ids, Dice& dice, const std::function<void(SentencePair)>& emit);

}  // namespace bertpretrain
