#pragma once
// Makes text from outside, such as folder names, safe to show in terminals and files.

#include <string>
#include <string_view>

namespace bertpretrain {

/// Returns `text` as valid UTF-8 without control characters. Each byte of a control character (U+0000 to U+001F, U+007F to
/// U+009F) or of invalid UTF-8 becomes "\xNN".
/// @param allowed control characters to keep, such as "\n\t"
std::string displayable(std::string_view text, std::string_view allowed = {});

}  // namespace bertpretrain
