#pragma once
// Tokens of the Punkt algorithm. Source: Kiss and Strunk 2006, "Unsupervised Multilingual Sentence Boundary Detection".

#include <string>
#include <string_view>
#include <vector>

#include "text/utf8.h"

namespace bertpretrain {

struct PunktToken {
    std::string_view text;  ///< a part of the tokenized text, in UTF-8; not empty
    std::string type;       ///< `text` in lower case, or punkt_number
    // Set by annotate_type() and annotate_pair():
    bool sentence_break = false, abbreviation = false, ellipsis = false;

    explicit PunktToken(std::string_view word);

    bool ends_in_period() const { return text.back() == '.'; }
    bool first_upper() const;
    bool first_lower() const;
    bool is_number() const;   ///< such as "1,000.5", also with a period after it
    bool is_initial() const;  ///< one letter and a period
    bool is_alphabetic() const;
    bool has_letter() const;  ///< whether its type has a letter, which is true for numbers
    /// Returns the type without its last period; a lone period is kept.
    std::string type_without_period() const;
    /// Returns type_without_period() when the token has a sentence break, otherwise the type.
    std::string type_without_break() const;
};

inline const std::string punkt_number = "##number##";

/// Whether `c` is white space by Python's `\s`.
inline bool is_punkt_space(char32_t c) {
    if (c < 0x80) return c == U' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
    return is_wide_blank(c) && c != 0x200B;
}
/// Marks that may directly follow a stop.
inline bool is_punkt_non_word(char c) {
    static constexpr ByteSet marks(")\";}]*:@'({[?!");
    return marks.contains(c);
}
inline bool is_punkt_stop(char c) { return c == '.' || c == '?' || c == '!'; }

/// Returns the end of the word at `i`, which must not be white space.
std::size_t punkt_word_end(std::string_view text, std::size_t i);

/// Calls visit(word) for every word, a view of `text` that is not empty. Words end at white space, brackets, quotation marks,
/// dashes, ellipses and commas at their end. Takes linear time.
template <class Visit>
void for_each_punkt_word(std::string_view text, const Visit& visit) {
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = i;
        if (!is_punkt_space(next_code_point(text, end))) {
            end = punkt_word_end(text, i);
            visit(text.substr(i, end - i));
        }
        i = end;
    }
}

/// Returns all words as tokens, which refer to `text`.
std::vector<PunktToken> punkt_tokens(std::string_view text);

}  // namespace bertpretrain
