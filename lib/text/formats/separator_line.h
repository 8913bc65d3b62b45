#pragma once
// The line "sep=;" with which Excel's CSV files may begin, and which names the separator.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bertpretrain {

struct SeparatorLine {
    char separator = 0;    ///< a comma, a semicolon or a tab; 0: another one
    std::size_t size = 0;  ///< of the line with its line end
    std::string line;      ///< without it, for messages
};

/// Returns the line with which `text` begins, if it is such a line: sep=, and what follows it, also between quotes. A tab may be
/// written as \t. @param text with "\n" as line end
std::optional<SeparatorLine> separator_line(std::string_view text);

/// Returns the position after that line, where a table's header begins; 0 without the line.
std::size_t begin_of_header(std::string_view text);

}  // namespace bertpretrain
