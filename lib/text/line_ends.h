#pragma once
// Universal newlines: LF, CR LF and CR end a line, as in Python's open(..., newline=None).

#include <cstddef>
#include <string>
#include <string_view>

namespace bertpretrain {

/// Converts the line ends of a text that arrives in pieces.
class LineEnds {
public:
    /// Replaces each CR LF and each CR in `bytes` by LF, in place; returns the new size, which may be 0. A CR LF may be divided
    /// between two pieces. A text without CR costs one search per piece.
    std::size_t convert(char* bytes, std::size_t size);

private:
    bool after_return_ = false;  ///< whether the previous piece ended with a CR
};

/// Converts the line ends of a whole text.
std::string with_newlines(std::string text);

/// Calls visit(line) for every line of `text`, without its line end (LF, CR LF or CR). A line end at the end of `text` begins no
/// further line.
template <class Visit>
void for_each_universal_line(std::string_view text, Visit&& visit) {
    const bool has_returns = text.find('\r') != std::string_view::npos;  // rare; one search for both is much slower
    while (!text.empty()) {
        const std::size_t end = has_returns ? text.find_first_of("\r\n") : text.find('\n');
        visit(text.substr(0, end));
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
    }
}

}  // namespace bertpretrain
