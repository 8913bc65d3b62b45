#pragma once
// Chooses the tokens of a sample to mask and their replacements.

#include <cstdint>
#include <span>
#include <vector>

#include "shards/mask_spans.h"
#include "shards/rng.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {

struct MaskingSettings {
    double probability = 0.15;          ///< share of a sequence's tokens to predict
    std::int64_t max_predictions = 20;  ///< maximum number of predictions per sequence
    /// By id, whether a token continues the preceding word (see continuations_of). If not empty, masks whole words only, and
    /// skips a word that would exceed the number of predictions. If empty, masks tokens independently.
    std::vector<std::uint8_t> continues_word{};
    /// By id, whether any token after it begins a word; of a vocabulary whose tokens mark where words end. May be empty.
    std::vector<std::uint8_t> ends_word{};
    /// Whether a word ends at [SEP]. Otherwise a continuation at the start of segment B (where truncation removed the start of
    /// its word) counts as part of A's last word, as in Google's script.
    bool separator_ends_word = false;
    bool special_tokens = false;               ///< whether [CLS] and [SEP] may be masked too; not with whole words or spans
    MaskSpans spans{};                         ///< of tokens, or of words if whole words are masked
    std::vector<std::int32_t> replacements{};  ///< ids of random replacements; empty: all ids of the vocabulary
};

/// Returns the settings for tokens of `vocabulary`, without spans. @param whole_words masks whole words only
/// @throws ConfigError if whole words are wanted, but the tokens do not show where words begin or end
MaskingSettings masking_settings(const Vocabulary& vocabulary, double probability, std::int64_t max_predictions,
                                 bool whole_words);

struct MaskedTokens {
    std::vector<std::int32_t> positions;  ///< ascending
    std::vector<std::int32_t> labels;     ///< original ids at those positions
};

/// Returns the number of tokens to predict in a sequence of `length` tokens, including special ones: at least 1, at most
/// max_predictions. Halves round to even, as in Python.
std::int64_t prediction_count(std::int64_t length, const MaskingSettings& settings);

/// Masks tokens other than [CLS] and [SEP], or any token with special_tokens: 80 % become [MASK], 10 % stay unchanged, 10 %
/// become a random token of the vocabulary. This choice is made per token, even if whole words or spans are masked.
/// @param tokens modified in place
/// Source: create_masked_lm_predictions of google-research/bert @eedf571.
MaskedTokens mask_tokens(std::span<std::int32_t> tokens, const MaskingSettings& settings, const SpecialIds& special_ids,
                         std::int32_t vocabulary_size, Rng& rng);

}  // namespace bertpretrain
