#pragma once
// Words as the Punkt algorithm sees them. Source: Kiss and Strunk 2006, "Unsupervised Multilingual Sentence Boundary Detection".

#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

struct PunktToken {
    std::u32string text;
    std::string type;  ///< lower case, or punkt_number
    bool paragraph_start = false, line_start = false;
    // What annotation finds out:
    bool sentence_break = false, abbreviation = false, ellipsis = false;

    explicit PunktToken(std::u32string_view word);

    bool ends_in_period() const { return text.back() == U'.'; }
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
bool is_punkt_space(char32_t c);
/// Marks that may follow a stop directly, within the same word or behind it.
bool is_punkt_non_word(char32_t c);
inline bool is_punkt_stop(char32_t c) { return c == U'.' || c == U'?' || c == U'!'; }

/// Splits words at white space, brackets, quotation marks, dashes, ellipses and closing commas. Linear.
std::vector<PunktToken> punkt_tokens(std::u32string_view text);

}  // namespace bertpretrain
