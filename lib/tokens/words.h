#pragma once
// The first half of tokenization: text cut into words, before any vocabulary is asked.

#include <cstddef>
#include <string>
#include <string_view>

#include "tokens/character_table.h"

namespace bertpretrain {

/// Reads the words of texts one by one, as Hugging Face's BertNormalizer and BertPreTokenizer find them: control characters
/// dropped, split at white space, punctuation marks and Chinese characters words of their own; uncased also decomposed
/// (NFD), without nonspacing marks, in lower case. Bytes that are not UTF-8 are dropped. The other tools' rules differ as
/// TokenRules says.
class WordReader {
public:
    WordReader(Casing casing, TokenRules rules) : table_(&CharacterTable::of(casing, rules)) {}

    /// Begins a text, which must outlive the reading.
    void start(std::string_view text) {
        text_ = text;
        position_ = 0;
    }
    /// The next word, valid UTF-8, until the next call; empty at the end of the text.
    std::string_view next();

private:
    void add_ascii_letters();
    bool add_beyond_ascii();
    void add_in_context(std::size_t begin);

    std::string_view text_;
    std::size_t position_ = 0;
    const CharacterTable* table_;
    std::string word_;
};

}  // namespace bertpretrain
