#include "text/sentences/punkt_token.h"

#include <algorithm>

namespace bertpretrain {
namespace {

bool is_letter(char32_t c) {
    if (c < 0x80) return is_ascii_letter(static_cast<char>(c)) || c == U'_';
    return is_letter_or_digit(c) && !is_decimal_digit(c);
}

/// Whether the word is a number such as "-1", ".5" or "1,000.5-6.".
bool looks_like_number(std::string_view word) {
    static constexpr ByteSet inner(",.-");
    std::size_t i = 0;
    if (word[i] == '-') ++i;
    if (i < word.size() && (word[i] == '.' || word[i] == ',')) ++i;
    if (i == word.size() || !is_decimal_digit(next_code_point(word, i))) return false;
    while (i < word.size()) {
        if (inner.contains(word[i])) ++i;
        else if (!is_decimal_digit(next_code_point(word, i))) return false;
    }
    return true;
}

/// Returns the length of the dashes or dots at `i` ("--", "..", ". . ." or longer), or 0.
std::size_t run_at(std::string_view text, std::size_t i) {
    if (i >= text.size() || (text[i] != '-' && text[i] != '.')) return 0;
    std::size_t end = i;
    while (end < text.size() && text[end] == text[i]) ++end;
    if (end - i >= 2) return end - i;
    if (text[i] != '.') return 0;
    std::size_t spaced = 0, last_stop = i;
    for (end = i; end + 1 < text.size() && text[end] == '.';) {
        std::size_t next = end + 1;
        if (!is_punkt_space(next_code_point(text, next))) break;
        last_stop = end;
        end = next;
        ++spaced;
    }
    // At least three dots are needed, and the run ends at the last dot, without the space after it.
    if (spaced >= 2 && end < text.size() && text[end] == '.') return end + 1 - i;
    return spaced >= 3 ? last_stop + 1 - i : 0;
}

bool plain_end_at(std::string_view text, std::size_t i) {
    if (i >= text.size() || is_punkt_non_word(text[i])) return true;
    std::size_t next = i;
    return is_punkt_space(next_code_point(text, next)) || run_at(text, i) > 0;
}

bool word_ends_at(std::string_view text, std::size_t i) {
    if (i < text.size() && is_ascii_letter(text[i])) return false;
    return plain_end_at(text, i) || (text[i] == ',' && plain_end_at(text, i + 1));
}

}  // namespace

PunktToken::PunktToken(std::string_view word) : text(word) {
    if (looks_like_number(text)) type = punkt_number;
    else type = lower_text(text);
}

bool PunktToken::first_upper() const {
    std::size_t i = 0;
    return is_upper_letter(next_code_point(text, i));
}
bool PunktToken::first_lower() const {
    std::size_t i = 0;
    return is_lower_letter(next_code_point(text, i));
}
bool PunktToken::is_number() const { return type.starts_with(punkt_number); }
bool PunktToken::is_initial() const {
    std::size_t i = 0;
    return is_letter(next_code_point(text, i)) && text.substr(i) == ".";
}
bool PunktToken::is_alphabetic() const {
    for (std::size_t i = 0; i < text.size();)
        if (!is_letter(next_code_point(text, i))) return false;
    return true;
}
bool PunktToken::has_letter() const {
    if (std::any_of(type.begin(), type.end(), is_ascii_letter)) return true;
    for (std::size_t i = 0; i < text.size();)
        if (is_letter(next_code_point(text, i))) return true;
    return false;
}

std::string PunktToken::type_without_period() const {
    return type.size() > 1 && type.back() == '.' ? type.substr(0, type.size() - 1) : type;
}
std::string PunktToken::type_without_break() const { return sentence_break ? type_without_period() : type; }

std::size_t punkt_word_end(std::string_view text, std::size_t i) {
    static constexpr ByteSet alone("(\"`{[:;&#*@)}]-,");
    if (const std::size_t run = run_at(text, i); run > 0) return i + run;
    const bool is_alone = alone.contains(text[i]);
    next_code_point(text, i);
    if (is_alone) return i;
    while (!word_ends_at(text, i)) next_code_point(text, i);
    return i;
}

std::vector<PunktToken> punkt_tokens(std::string_view text) {
    std::vector<PunktToken> tokens;
    for_each_punkt_word(text, [&](std::string_view word) { tokens.emplace_back(word); });
    return tokens;
}

}  // namespace bertpretrain
