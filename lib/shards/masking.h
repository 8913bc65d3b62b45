#pragma once
// Which tokens a sample hides, and what stands in their place.

#include <cstdint>
#include <span>
#include <vector>

#include "shards/rng.h"
#include "tokens/vocabulary.h"

namespace bertpretrain {

struct MaskingSettings {
    double probability = 0.15;          ///< share of a sequence's tokens that are to be predicted
    std::int64_t max_predictions = 20;  ///< at most so many per sequence
    /// By id, whether a token continues the word before it (see continuations_of): whole words are then hidden or left, and
    /// none that would go beyond the number wanted. Empty: each token for itself.
    std::vector<std::uint8_t> continues_word{};
};

/// By id, 1 for the tokens that begin with "##". They are BERT's notation for a word's further pieces.
std::vector<std::uint8_t> continuations_of(const Vocabulary& vocabulary);

struct MaskedTokens {
    std::vector<std::int32_t> positions;  ///< ascending
    std::vector<std::int32_t> labels;     ///< the original ids at those positions
};

/// Tokens to predict in a sequence of `length` tokens, specials included: at least 1, at most max_predictions; halves round
/// to even, as Python's round does.
std::int64_t prediction_count(std::int64_t length, const MaskingSettings& settings);

/// Hides tokens other than [CLS] and [SEP]: 80 % become [MASK], 10 % stay, 10 % become any token of the vocabulary, each for
/// itself also where whole words are hidden. A continuation at the front of segment B (its word's beginning was cut off)
/// belongs to the last word of A, as in Google's script.
/// @param tokens changed in place
/// Source: create_masked_lm_predictions of google-research/bert @eedf571.
MaskedTokens mask_tokens(std::span<std::int32_t> tokens, const MaskingSettings& settings, const SpecialIds& special_ids,
                         std::int32_t vocabulary_size, Rng& rng);

}  // namespace bertpretrain
