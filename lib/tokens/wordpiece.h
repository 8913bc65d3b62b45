#pragma once
// Converts text to token ids, as Hugging Face's BertTokenizerFast does, or by Google's or NVIDIA's rules.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tokens/vocabulary.h"
#include "tokens/words.h"

namespace bertpretrain {

/// BERT's tokenizer: cleans text, splits it into words and punctuation marks, and splits each word into vocabulary pieces,
/// longest match first from the left.
class WordPiece {
public:
    WordPiece(std::shared_ptr<const Vocabulary> vocabulary, Casing casing, TokenRules rules = TokenRules::huggingface);
    ~WordPiece();
    WordPiece(WordPiece&&) noexcept;
    WordPiece& operator=(WordPiece&&) noexcept;

    /// Returns the ids of `utf8_text`, without [CLS] and [SEP] around it. Names of special tokens in the text become special
    /// tokens as TokenRules describes. Bytes that are not valid UTF-8 are dropped. Thread-safe.
    std::vector<std::int32_t> encode(std::string_view utf8_text) const;
    /// The same, but appends to `ids`.
    void encode(std::string_view utf8_text, std::vector<std::int32_t>& ids) const;

    const Vocabulary& vocabulary() const;

private:
    struct State;
    std::unique_ptr<const State> state_;
};

}  // namespace bertpretrain
