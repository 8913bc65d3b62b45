#pragma once
// Text to token ids, as Hugging Face's BertTokenizerFast does it, or after other tools' rules.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tokens/vocabulary.h"
#include "tokens/words.h"

namespace bertpretrain {

/// BERT's tokenizer: text is cleaned and cut into words and punctuation marks, and each word into the longest pieces that
/// the vocabulary has, from its left.
class WordPiece {
public:
    WordPiece(std::shared_ptr<const Vocabulary> vocabulary, Casing casing, TokenRules rules = TokenRules::huggingface);
    ~WordPiece();
    WordPiece(WordPiece&&) noexcept;
    WordPiece& operator=(WordPiece&&) noexcept;

    /// The ids of `utf8_text`, without [CLS] and [SEP] around it. The special tokens' own names are recognised anywhere in
    /// the text (see TokenRules). Bytes that are not UTF-8 are dropped. Several threads may call it at once.
    std::vector<std::int32_t> encode(std::string_view utf8_text) const;
    /// The same, appended to `ids`.
    void encode(std::string_view utf8_text, std::vector<std::int32_t>& ids) const;

    const Vocabulary& vocabulary() const;

private:
    struct State;
    std::unique_ptr<const State> state_;
};

}  // namespace bertpretrain
