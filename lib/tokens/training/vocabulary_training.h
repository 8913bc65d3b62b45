#pragma once
// Trains a vocabulary from word counts, by the rules of Hugging Face's WordPieceTrainer.

#include <cstddef>
#include <cstdint>

#include "tokens/training/word_counts.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {

struct VocabularyTraining {
    std::int32_t size = 30522;          ///< target size in tokens, including the special ones
    std::int64_t min_frequency = 2;     ///< pairs that occur less often are not merged
    std::size_t alphabet_limit = 1000;  ///< keeps only this many characters, the most frequent ones
};

/// Returns the special tokens, the characters, the characters that continue words ("##x"), and then merged pieces in the order
/// of their creation. Each merge joins the most frequent pair of neighbouring pieces; ties go to the smaller ids. The result
/// depends on `counts` and `training` only. It has fewer than `size` tokens if no pair occurs `min_frequency` times any more.
///
/// Hugging Face numbers the continuing characters in hash-table order, so it breaks ties differently in each run. Apart from
/// that the tokens are the same.
/// @throws ConfigError if `size` is too small for the special tokens and the characters
/// Source: Sennrich et al. 2016, section 3.2, with characters marked by their position in the word.
Vocabulary train_vocabulary(const WordCounts& counts, const VocabularyTraining& training);

}  // namespace bertpretrain
