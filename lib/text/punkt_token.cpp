#include "text/punkt_token.h"

#include <algorithm>

#include "text/utf8.h"

namespace bertpretrain {
namespace {

bool one_of(char32_t c, std::u32string_view set) { return set.find(c) != std::u32string_view::npos; }
bool is_letter(char32_t c) { return (is_letter_or_digit(c) || c == U'_') && !is_decimal_digit(c); }

/// "-1", ".5", "1,000.5-6."
bool looks_like_number(std::u32string_view word) {
    std::size_t i = 0;
    if (i < word.size() && word[i] == U'-') ++i;
    if (i < word.size() && (word[i] == U'.' || word[i] == U',')) ++i;
    if (i == word.size() || !is_decimal_digit(word[i])) return false;
    return std::all_of(word.begin() + static_cast<std::ptrdiff_t>(i), word.end(),
                       [](char32_t c) { return is_decimal_digit(c) || one_of(c, U",.-"); });
}

/// Length of "--", "..", ". . ." and longer ones at `i`, or 0.
std::size_t run_at(std::u32string_view text, std::size_t i) {
    if (i >= text.size() || !one_of(text[i], U"-.")) return 0;
    std::size_t end = i;
    while (end < text.size() && text[end] == text[i]) ++end;
    if (end - i >= 2) return end - i;
    if (text[i] != U'.') return 0;
    std::size_t spaced = 0;
    for (end = i; end + 1 < text.size() && text[end] == U'.' && is_punkt_space(text[end + 1]); end += 2) ++spaced;
    // The last of them must be a period without a space of its own.
    while (spaced >= 2) {
        if (end < text.size() && text[end] == U'.') return end + 1 - i;
        end -= 2;
        --spaced;
    }
    return 0;
}

bool word_ends_at(std::u32string_view text, std::size_t i) {
    const auto plain_end = [&](std::size_t at) {
        return at >= text.size() || is_punkt_space(text[at]) || is_punkt_non_word(text[at]) || run_at(text, at) > 0;
    };
    return plain_end(i) || (text[i] == U',' && plain_end(i + 1));
}

}  // namespace

bool is_punkt_space(char32_t c) {
    if (c < 0x80) return c == U' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
    return is_blank(c) && c != 0x200B;
}

bool is_punkt_non_word(char32_t c) { return one_of(c, U")\";}]*:@'({[?!"); }

PunktToken::PunktToken(std::u32string_view word) : text(word) {
    if (looks_like_number(text)) {
        type = punkt_number;
        return;
    }
    type = lower_text(utf8_text(text));
}

bool PunktToken::first_upper() const { return is_upper_letter(text.front()); }
bool PunktToken::first_lower() const { return is_lower_letter(text.front()); }
bool PunktToken::is_number() const { return type.starts_with(punkt_number); }
bool PunktToken::is_initial() const { return text.size() == 2 && is_letter(text[0]) && text[1] == U'.'; }
bool PunktToken::is_alphabetic() const { return std::all_of(text.begin(), text.end(), is_letter); }
bool PunktToken::has_letter() const {
    return std::any_of(type.begin(), type.end(), is_ascii_letter) || std::any_of(text.begin(), text.end(), is_letter);
}

std::string PunktToken::type_without_period() const {
    return type.size() > 1 && type.back() == '.' ? type.substr(0, type.size() - 1) : type;
}
std::string PunktToken::type_without_break() const { return sentence_break ? type_without_period() : type; }

std::vector<PunktToken> punkt_tokens(std::u32string_view text) {
    std::vector<PunktToken> tokens;
    for (std::size_t i = 0; i < text.size();) {
        if (is_punkt_space(text[i])) {
            ++i;
            continue;
        }
        std::size_t length = run_at(text, i);
        if (length == 0) {
            length = 1;
            if (!one_of(text[i], U"(\"`{[:;&#*@)}]-,"))
                while (!word_ends_at(text, i + length)) ++length;
        }
        tokens.emplace_back(text.substr(i, length));
        i += length;
    }
    return tokens;
}

}  // namespace bertpretrain
