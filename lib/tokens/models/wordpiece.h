#pragma once
// Converts text to token ids, as Hugging Face's BertTokenizerFast does, or by Google's or NVIDIA's rules.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tokens/models/tokenizer.h"
#include "tokens/models/words.h"

namespace bertpretrain {

/// BERT's tokenizer: cleans text, splits it into words and punctuation marks, and splits each word into vocabulary pieces,
/// longest match first from the left.
class WordPiece final : public Tokenizer {
public:
    WordPiece(std::shared_ptr<const Vocabulary> vocabulary, Casing casing, TokenRules rules = TokenRules::huggingface);
    ~WordPiece() override;
    WordPiece(WordPiece&&) noexcept;
    WordPiece& operator=(WordPiece&&) noexcept;

    using Tokenizer::encode;
    /// Names of special tokens in the text become special tokens as TokenRules describes.
    void encode(std::string_view utf8_text, std::vector<std::int32_t>& ids) const override;

    const Vocabulary& vocabulary() const override;

private:
    struct State;
    std::unique_ptr<const State> state_;
};

}  // namespace bertpretrain
