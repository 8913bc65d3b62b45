#pragma once
// Untrusted text and tensor shapes for messages.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// Returns the first `longest` bytes of `text` as shown by displayable() (core/output/displayable.h), and "..." when there are
/// more.
std::string printable(std::string_view text, std::size_t longest = 100);

/// {30528, 1024} -> "[30528, 1024]".
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace bertpretrain
