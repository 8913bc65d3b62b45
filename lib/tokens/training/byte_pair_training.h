#pragma once
// Trains a byte-level BPE from word counts, by the rules of Hugging Face's BpeTrainer.

#include <cstdint>
#include <string>

#include "tokens/definition/tokenizer_definition.h"
#include "tokens/training/word_counts.h"

namespace bertpretrain {

struct BytePairTraining {
    std::int32_t size = 30522;       ///< target size in tokens, including the special ones and the 256 bytes
    std::int64_t min_frequency = 2;  ///< pairs that occur less often are not merged
};

/// The normalizer and pre-tokenizer of a trained BPE: NFC, then GPT-2's words, each with the space before it. Has no merges.
BytePairModel trained_byte_level();

/// Returns a tokenizer.json: BERT's five special tokens, the 256 bytes in the order of their characters, and then the merged
/// tokens in the order of their creation. Each merge joins the most frequent pair of neighbouring tokens; ties go to the smaller
/// ids, as BpeTrainer does with the special tokens and ByteLevel.alphabet(). [MASK] takes one space before it, and the
/// post-processor puts [CLS] and [SEP] around a text. It has fewer than `size` tokens if no pair occurs `min_frequency` times
/// any more.
/// @param counts of words that count_byte_level_words() returned
/// @throws ConfigError if `size` is too small for the special tokens and the bytes
std::string train_byte_pairs(const WordCounts& counts, const BytePairTraining& training);

}  // namespace bertpretrain
