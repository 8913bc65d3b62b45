#pragma once
// Escapes text for HTML and SVG.

#include <string>
#include <string_view>

namespace bertpretrain {

/// Escapes `text` for use between tags and inside double quotes. Control characters but "\n" become spaces (XML forbids most).
std::string escape_markup(std::string_view text);

}  // namespace bertpretrain
