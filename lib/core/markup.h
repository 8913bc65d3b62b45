#pragma once
// Text inside HTML and SVG.

#include <string>
#include <string_view>

namespace bertpretrain {

/// `text` so that it means itself between tags and inside quotes. Control characters, which XML does not know, become spaces,
/// but for line ends.
std::string escape_markup(std::string_view text);

}  // namespace bertpretrain
