#pragma once
// Small questions about strings and numbers for people.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// "a, b, c"; an empty list gives "".
std::string join(const std::vector<std::string>& parts, std::string_view separator = ", ");

/// The known name that `wrong` is most likely a slip of, by edit distance (at most a third of its length, plus one).
std::optional<std::string> nearest_name(std::string_view wrong, const std::vector<std::string>& known);

/// `text` up to its first line break: of a library's message, the part for people.
std::string first_line(std::string_view text);

/// 1234567 -> "1,234,567".
std::string with_thousands(std::int64_t number);

/// 3725.4 -> "1h 02m"; 62 -> "1m 02s"; 3.21 -> "3.2s".
std::string duration_text(double seconds);

/// 1536 -> "1.5 KiB".
std::string bytes_text(std::uint64_t bytes);

/// `number` with so many digits after the point.
std::string fixed(double number, int digits);

}  // namespace bertpretrain
