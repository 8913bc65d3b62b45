#pragma once

#include <string>
#include <string_view>

namespace bertpretrain {

/// Returns the text with a space between any two characters of a line, in place of its own spaces, so that each character is a
/// word. Line ends stay.
std::string letters_apart(std::string_view text);

}  // namespace bertpretrain
