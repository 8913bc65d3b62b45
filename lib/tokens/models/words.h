#pragma once
// The first stage of tokenization: normalizes text and splits it into words. Needs no vocabulary.

#include <cstddef>
#include <string>
#include <string_view>

#include "tokens/unicode/character_table.h"

namespace bertpretrain {

/// Returns the words of a text one by one, like Hugging Face's BertNormalizer and BertPreTokenizer. It drops control characters
/// and bytes that are not UTF-8, splits at white space, and returns each punctuation mark and Chinese character as a word.
/// Uncased text is also decomposed (NFD), stripped of nonspacing marks and lowercased. TokenRules lists how the other tools
/// differ. Not thread-safe.
class WordReader {
public:
    /// @param splits_ideographs whether a Chinese character is a word by itself; otherwise it is a letter
    WordReader(Casing casing, TokenRules rules, bool splits_ideographs = true)
        : table_(&CharacterTable::of(casing, rules, splits_ideographs)) {}

    /// Starts a new text, which must stay valid while next() is called.
    void start(std::string_view text) {
        text_ = text;
        position_ = 0;
    }
    /// Returns the next word as valid UTF-8, or an empty view at the end of the text. Valid until the next call.
    std::string_view next();

    /// Returns the whole text as BertNormalizer does: nothing is split, and white space becomes spaces. Valid until the next
    /// call.
    std::string_view normalized(std::string_view text);

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
