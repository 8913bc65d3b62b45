#pragma once
// Small string helpers, and numbers formatted for people.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// Breaks `text` between words into lines of at most `width` columns, each ended by "\n"; only a longer word makes a longer line.
/// @param first, others  spaces at the beginning of the first line and of the others
std::string wrapped(const std::string& text, std::size_t width, std::size_t first, std::size_t others);

/// {"a", "b", "c"} -> "a, b, c"; an empty list gives "".
std::string join(const std::vector<std::string>& parts, std::string_view separator = ", ");

/// Returns the known name that `wrong` most likely misspells: the closest by edit distance, at most a third of `wrong`'s length
/// plus one. Returns nullopt when there is none.
std::optional<std::string> nearest_name(std::string_view wrong, const std::vector<std::string>& known);

/// Returns `text` up to its first line break, which is the readable part of a library's message.
std::string first_line(std::string_view text);

/// Returns `text`, or its beginning and "...", at most `longest` bytes of UTF-8, no character divided.
std::string shortened(std::string_view text, std::size_t longest = 60);

/// 1234567 -> "1,234,567".
std::string with_thousands(std::int64_t number);

/// 3725.4 -> "1h 02m"; 62 -> "1m 02s"; 3.21 -> "3.2s".
std::string duration_text(double seconds);

/// "90m" -> 5400. Units: s, m, h and d. Returns the seconds, or nullopt if the text is not a positive number with a unit.
std::optional<double> duration_seconds(std::string_view text);

/// 1536 -> "1.5 KiB".
std::string bytes_text(std::uint64_t bytes);

/// Formats `number` with `digits` digits after the decimal point.
std::string fixed(double number, int digits);

}  // namespace bertpretrain
