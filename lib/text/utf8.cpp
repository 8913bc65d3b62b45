#include "text/utf8.h"

#include <utf8proc.h>

namespace bertpretrain {
namespace {

utf8proc_category_t category(char32_t code_point) { return utf8proc_category(static_cast<utf8proc_int32_t>(code_point)); }

}  // namespace

char32_t next_wide_code_point(std::string_view text, std::size_t& position) {
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + position;
    utf8proc_int32_t code_point = 0;
    const auto size = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - position), &code_point);
    position += size > 0 ? static_cast<std::size_t>(size) : 1;
    return size > 0 ? static_cast<char32_t>(code_point) : U'\uFFFD';
}

char32_t previous_code_point(std::string_view text, std::size_t& position) {
    const std::size_t end = position;
    do --position;
    while (position > 0 && end - position < 4 && (static_cast<unsigned char>(text[position]) & 0xC0) == 0x80);
    std::size_t from = position;
    return next_code_point(text.substr(0, end), from);
}

void append_code_point(std::string& text, char32_t code_point) {
    if (code_point < 0x80) {
        text += static_cast<char>(code_point);
        return;
    }
    utf8proc_uint8_t bytes[4];
    const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes);
    text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

std::u32string code_points_of(std::string_view text) {
    std::u32string code_points;
    code_points.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) code_points += next_code_point(text, i);
    return code_points;
}

std::string utf8_text(std::u32string_view code_points) {
    std::string text;
    for (const char32_t c : code_points) append_code_point(text, c);
    return text;
}

bool is_upper_letter(char32_t code_point) {
    if (code_point < 0x80) return code_point >= 'A' && code_point <= 'Z';
    return category(code_point) == UTF8PROC_CATEGORY_LU || category(code_point) == UTF8PROC_CATEGORY_LT;
}

bool is_lower_letter(char32_t code_point) {
    if (code_point < 0x80) return code_point >= 'a' && code_point <= 'z';
    return category(code_point) == UTF8PROC_CATEGORY_LL;
}

bool is_letter_or_digit(char32_t code_point) {
    const auto kind = category(code_point);
    return (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO) ||
           (kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO);
}

bool has_letter_or_digit(std::string_view text) {
    for (std::size_t i = 0; i < text.size();)
        if (is_letter_or_digit(next_code_point(text, i))) return true;
    return false;
}

bool is_decimal_digit(char32_t code_point) {
    if (code_point < 0x80) return code_point >= '0' && code_point <= '9';
    return category(code_point) == UTF8PROC_CATEGORY_ND;
}

bool is_wide_blank(char32_t code_point) {
    if (code_point == 0x85 || code_point == 0x200B) return true;
    const auto kind = category(code_point);
    return kind == UTF8PROC_CATEGORY_ZS || kind == UTF8PROC_CATEGORY_ZL || kind == UTF8PROC_CATEGORY_ZP;
}

std::string lower_text(std::string_view text) {
    std::string lower;
    lower.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const char32_t c = next_code_point(text, i);
        if (c < 0x80) lower += ascii_lower(static_cast<char>(c));
        else append_code_point(lower, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    }
    return lower;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace bertpretrain
