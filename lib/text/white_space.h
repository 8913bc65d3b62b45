#pragma once
// White space and empty lines, as Python's str methods define them.

#include <cstddef>
#include <string_view>

namespace bertpretrain {

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
