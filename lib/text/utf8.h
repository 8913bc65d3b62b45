#pragma once
// Code points in UTF-8 text, and their properties that articles and sentences need.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace bertpretrain {

/// Returns the code point at `position` and advances `position` past it. An invalid byte gives U+FFFD.
char32_t next_wide_code_point(std::string_view text, std::size_t& position);
inline char32_t next_code_point(std::string_view text, std::size_t& position) {
    const auto byte = static_cast<unsigned char>(text[position]);
    return byte < 0x80 ? (++position, byte) : next_wide_code_point(text, position);
}

/// Returns the code point that ends before `position` and moves `position` to its first byte. `position` must be at least 1.
char32_t previous_code_point(std::string_view text, std::size_t& position);

void append_code_point(std::string& text, char32_t code_point);

/// Convert a text to code points, and back.
std::u32string code_points_of(std::string_view text);
std::string utf8_text(std::u32string_view code_points);

bool is_upper_letter(char32_t code_point);  ///< categories Lu and Lt
bool is_lower_letter(char32_t code_point);  ///< category Ll
bool is_letter_or_digit(char32_t code_point);
bool has_letter_or_digit(std::string_view text);
bool is_decimal_digit(char32_t code_point);  ///< category Nd
/// Whether a code point from U+0080 on separates words, line and paragraph separators included.
bool is_wide_blank(char32_t code_point);
inline bool is_blank(char32_t code_point) { return code_point < 0x80 ? code_point <= 0x20 : is_wide_blank(code_point); }

/// Converts each code point to lower case.
std::string lower_text(std::string_view text);

inline bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
inline char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// A set of bytes at which a scan stops. The bytes between them can be copied in one piece.
class ByteSet {
public:
    constexpr explicit ByteSet(std::string_view bytes) {
        for (const char c : bytes) has_[static_cast<unsigned char>(c)] = true;
    }
    constexpr bool contains(char c) const { return has_[static_cast<unsigned char>(c)]; }
    /// Returns the first position at or after `from` with one of these bytes, or text.size().
    std::size_t find(std::string_view text, std::size_t from) const {
        while (from < text.size() && !contains(text[from])) ++from;
        return from;
    }

private:
    std::array<bool, 256> has_{};
};

/// Returns `text` without spaces and tabs at its ends.
std::string_view trimmed(std::string_view text);

}  // namespace bertpretrain
