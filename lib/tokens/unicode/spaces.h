#pragma once
// White space (the property White_Space) in text.

#include <cstddef>
#include <string_view>

namespace bertpretrain {

/// Returns the begin of the white space that ends before `position`. @param text valid UTF-8
std::size_t without_spaces_before(std::string_view text, std::size_t position);
/// Returns the end of the white space that begins at `position`.
std::size_t past_spaces(std::string_view text, std::size_t position);

}  // namespace bertpretrain
