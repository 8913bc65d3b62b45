#pragma once
// Adds tokens learned from a domain's text to a vocabulary, whose tokens keep their ids.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tokens/training/word_counts.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {

struct VocabularyExtension {
    std::int32_t additions = 0;      ///< number of tokens to add
    std::int64_t min_frequency = 2;  ///< adds nothing that occurs less often
    bool reuses_unused = false;      ///< whether new tokens first take the places of BERT's "[unusedN]"
};

/// Returns `vocabulary` with new tokens at its end, or first in unused places. The words are split by `vocabulary`. Characters
/// that it lacks in words it cannot cover come first, the most frequent ones: those that occur more often than the pair of pieces
/// whose place they take, at most half of the additions. Then each new token joins the pair of neighbouring pieces that is most
/// frequent in the words; so each saves as many tokens of the text as that pair occurs. Adds fewer tokens if no pair occurs
/// `min_frequency` times any more. A pure function of its arguments.
Vocabulary extend_vocabulary(const Vocabulary& vocabulary, const WordCounts& counts, const VocabularyExtension& extension);

/// Returns `vocabulary` with the given tokens, in their order, at its end or first in unused places.
/// @throws DataError when the vocabulary has one of them already, or one occurs twice
Vocabulary extend_vocabulary(const Vocabulary& vocabulary, const std::vector<std::string>& tokens, bool reuses_unused);

/// What an extension added, and what it does to a text.
struct ExtensionSummary {
    std::int64_t characters = 0;  ///< new tokens of one character, also after "##"
    std::int64_t words = 0;       ///< other new tokens that are words of the text
    std::int64_t pieces = 0;      ///< the rest
    std::int64_t unused = 0;      ///< of all of them, those that no word of the text is cut into
    double tokens_per_word_before = 0, tokens_per_word_after = 0;
    double unknown_before = 0, unknown_after = 0;  ///< share of the text's words that are [UNK]
};

/// @param counts the words of the text, at least one
ExtensionSummary summary_of(const Vocabulary& vocabulary, const Vocabulary& extended, const WordCounts& counts);

/// Returns whether a token is one of BERT's places for new tokens: "[unused0]", "[unused1]", ...
bool is_unused(std::string_view token);

/// Returns the ids of the tokens that `extended` has instead of unused ones or after the end of `vocabulary`, ascending; nothing
/// if another token differs, or some are missing, so that `extended` is no extension. Empty for equal vocabularies.
std::optional<std::vector<std::int32_t>> new_tokens(const Vocabulary& vocabulary, const Vocabulary& extended);

/// Returns the ids of the pieces that cover `token`, longest first from the left, as WordPiece splits a word; if it begins with
/// "##", as it splits the rest of a word. Empty if pieces cannot cover it.
std::vector<std::int32_t> pieces_of(const Vocabulary& vocabulary, std::string_view token);

}  // namespace bertpretrain
