#pragma once
// A vocabulary from the words of a text, by the rules of Hugging Face's WordPieceTrainer.

#include <cstddef>
#include <cstdint>

#include "tokens/vocabulary.h"
#include "tokens/word_counts.h"

namespace bertpretrain {

struct VocabularyTraining {
    std::int32_t size = 30522;          ///< tokens wanted, special ones included
    std::int64_t min_frequency = 2;     ///< a pair that occurs less often is not merged
    std::size_t alphabet_limit = 1000;  ///< so many characters are kept, the most frequent ones
};

/// The special tokens, then the characters, then those characters that continue words ("##x"), then pieces in the order in
/// which they were made: each joins the two neighbouring pieces that occur together most often, among equals those with the
/// smaller ids. Same counts, same vocabulary. It is smaller than asked when no pair is left that occurs `min_frequency` times.
///
/// Hugging Face numbers the continuing characters in the order of a hash table, so its choice among equals differs from run
/// to run; apart from that the tokens are the same.
/// @throws ConfigError when `size` cannot hold the special tokens and the characters
/// Source: Sennrich et al. 2016, section 3.2, on characters marked by their place in the word.
Vocabulary train_vocabulary(const WordCounts& counts, const VocabularyTraining& training);

}  // namespace bertpretrain
