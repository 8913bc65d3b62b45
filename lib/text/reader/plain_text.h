#pragma once

#include <filesystem>
#include <string_view>

namespace bertpretrain {

/// Refuses a file that is not plain text, for code that reads lines of plain text only. Lines of a table are such lines.
/// @param head its first format_head_bytes bytes, fewer only if the file is shorter
/// @param do_this how to get plain text, for the message
/// @throws DataError naming the file, the format and what to do
void refuse_other_format(const std::filesystem::path& file, std::string_view head, std::string_view do_this);

}  // namespace bertpretrain
