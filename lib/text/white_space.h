#pragma once
// White space and empty lines, as Python's str methods define them.

#include <cstddef>
#include <string_view>

namespace bertpretrain {

inline constexpr std::string_view ascii_white_space = " \t\r\n\v\f";

/// Returns `text` without ASCII's white space at its beginning.
inline std::string_view trimmed_start(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(ascii_white_space);
    return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

/// Python's str.isspace() of one code point: U+0009 to U+000D, U+001C to U+0020, U+0085, U+00A0, U+3000 and others.
bool is_white_space(char32_t code_point);

/// Python's str.strip(): returns `text`, which is UTF-8, without white space at its ends.
std::string_view stripped(std::string_view text);

/// Whether str.strip() makes the line empty. This is what "empty line" means in every text that we read.
bool is_blank_line(std::string_view line);

/// Returns the size of `text` without an unfinished UTF-8 character at its end, so that the rest can be read with what follows
/// it.
std::size_t whole_characters(std::string_view text);

}  // namespace bertpretrain
