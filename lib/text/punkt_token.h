#pragma once
// Words as the Punkt algorithm sees them. Source: Kiss and Strunk 2006, "Unsupervised Multilingual Sentence Boundary Detection".

#include <string>
#include <string_view>
#include <vector>

#include "text/utf8.h"

namespace bertpretrain {

struct PunktToken {
    std::string_view text;  ///< of the text that was split, in UTF-8; not empty
    std::string type;       ///< lower case, or punkt_number
    // What annotation finds out:
    bool sentence_break = false, abbreviation = false, ellipsis = false;

    explicit PunktToken(std::string_view word);

    bool ends_in_period() const { return text.back() == '.'; }
    bool first_upper() const;
    bool first_lower() const;
    bool is_number() const;   ///< "1,000.5", also with a period behind
    bool is_initial() const;  ///< one letter and a period
    bool is_alphabetic() const;
    bool has_letter() const;  ///< in its type: a number counts as a word
    /// The type without its last period; a lone period stays.
    std::string type_without_period() const;
    /// The same where the period ended a sentence, else the type.
    std::string type_without_break() const;
};

inline const std::string punkt_number = "##number##";

/// White space as Python's `\s` has it.
inline bool is_punkt_space(char32_t c) {
    if (c < 0x80) return c == U' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
    return is_wide_blank(c) && c != 0x200B;
}
/// Marks that may follow a stop directly, within the same word or behind it.
inline bool is_punkt_non_word(char c) {
    static constexpr ByteSet marks(")\";}]*:@'({[?!");
    return marks.contains(c);
}
inline bool is_punkt_stop(char c) { return c == '.' || c == '?' || c == '!'; }

/// The end of the word that begins at `i`, where there is no white space.
std::size_t punkt_word_end(std::string_view text, std::size_t i);

/// Splits words at white space, brackets, quotation marks, dashes, ellipses and closing commas. Linear. @param visit gets views
/// of `text`, none of them empty
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

/// All words. The tokens are views of `text`.
std::vector<PunktToken> punkt_tokens(std::string_view text);

}  // namespace bertpretrain
