#pragma once
// Byte order marks, with which a text names its encoding.

#include <cstddef>
#include <string_view>

namespace bertpretrain {

inline constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";
inline constexpr std::size_t mark_bytes = 4;  ///< of the longest mark

/// Returns the encoding whose byte order mark begins a text: UTF-8, UTF-16LE, UTF-16BE, UTF-32LE or UTF-32BE, which iconv knows;
/// empty: no mark. UTF-32 is tried before UTF-16, whose mark it begins with. @param head at least 4 bytes, or the whole text
std::string_view marked_encoding(std::string_view head);

/// Whether `head` is the beginning of a byte order mark, so that the bytes after it decide about the encoding.
bool could_begin_mark(std::string_view head);

}  // namespace bertpretrain
