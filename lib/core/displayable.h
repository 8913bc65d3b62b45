#pragma once
// Text that others have chosen, names of folders above all, for terminals and files.

#include <string>
#include <string_view>

namespace bertpretrain {

/// `text` as UTF-8 without control characters: those, and bytes that are not UTF-8, are shown as "\xNN" each.
/// @param allowed control characters that stay, such as "\n\t"
std::string displayable(std::string_view text, std::string_view allowed = {});

}  // namespace bertpretrain
