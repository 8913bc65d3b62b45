#pragma once
// Which tokens a sample hides, and what stands in their place.

#include <cstdint>
#include <vector>

#include "shards/dice.h"
#include "tokens/vocabulary.h"

namespace bertpretrain {

struct MaskingSettings {
    double probability = 0.15;          ///< share of a sequence's tokens that are to be predicted
    std::int64_t max_predictions = 20;  ///< at most so many per sequence
};

struct MaskedTokens {
    std::vector<std::int32_t> positions;  ///< ascending
    std::vector<std::int32_t> labels;     ///< the original ids at those positions
};

/// Tokens to predict in a sequence of `length` tokens, specials included: at least 1, at most max_predictions; halves round
/// to even, as Python's round does.
std::int64_t prediction_count(std::int64_t length, const MaskingSettings& settings);

/// Hides tokens other than [CLS] and [SEP]: 80 % become [MASK], 10 % stay, 10 % become any token of the vocabulary.
/// @param tokens changed in place
/// Source: create_masked_lm_predictions of google-research/bert @eedf571, without whole-word masking.
MaskedTokens mask_tokens(std::vector<std::int32_t>& tokens, const MaskingSettings& settings, const SpecialIds& special_ids,
                         std::int32_t vocabulary_size, Dice& dice);

}  // namespace bertpretrain
