#pragma once
// Text from files that nobody vouches for, on its way into a message.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// At most `longest` bytes of `text`, as displayable() (core/displayable.h) shows them.
std::string printable(std::string_view text, std::size_t longest = 100);

/// "[30528, 1024]"
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace bertpretrain
