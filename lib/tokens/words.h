#pragma once
// The first half of tokenization: text cut into words, before any vocabulary is asked.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/token_rules.h"

namespace bertpretrain {

/// Whether letters keep case and accents.
enum class Casing {
    uncased,  ///< lower case, accents stripped
    cased,    ///< as written
};

/// Words one after the other in a buffer that is used again from text to text.
class Words {
public:
    std::size_t size() const { return words_.size(); }
    std::string_view operator[](std::size_t i) const { return std::string_view(bytes_).substr(words_[i].begin, words_[i].size); }
    /// Length of word `i` in code points.
    std::size_t code_points(std::size_t i) const { return words_[i].code_points; }

    /// Replaces the content by the words of `text` as Hugging Face's BertNormalizer and BertPreTokenizer find them: control
    /// characters dropped, split at white space, punctuation marks and Chinese characters words of their own; uncased also
    /// decomposed (NFD), without nonspacing marks, in lower case. Bytes that are not UTF-8 are dropped.
    /// The other tools' rules differ as TokenRules says.
    void split(std::string_view text, Casing casing, TokenRules rules = TokenRules::huggingface);

private:
    struct Word {
        std::size_t begin, size, code_points;
    };

    std::size_t add_run_beyond_ascii(std::string_view text, std::size_t position, Casing casing, TokenRules rules);
    void add_normalized();
    void add_letter(char32_t code_point);
    void add_single(char32_t code_point);
    void end_word();

    std::string bytes_;
    std::vector<Word> words_;
    std::size_t open_begin_ = 0;        ///< where the word that is being read begins
    std::size_t open_code_points_ = 0;  ///< its length so far
    std::u32string decomposed_;         ///< characters that wait for add_normalized()
};

}  // namespace bertpretrain
