#include "tokens/valid_text.h"

#include <cstdint>
#include <cstring>

#include "text/utf8.h"

namespace bertpretrain {
namespace {

/// Returns the first position at or after `from` with a byte beyond ASCII, or the text's size.
std::size_t skip_ascii(std::string_view text, std::size_t from) {
    for (std::uint64_t word = 0; from + sizeof word <= text.size(); from += sizeof word) {
        std::memcpy(&word, text.data() + from, sizeof word);
        if ((word & 0x8080808080808080) != 0) break;
    }
    while (from < text.size() && static_cast<signed char>(text[from]) >= 0) ++from;
    return from;
}

/// Returns the first position at or after `from` of an invalid byte, or the text's size.
std::size_t find_invalid(std::string_view text, std::size_t from) {
    while ((from = skip_ascii(text, from)) < text.size()) {
        std::size_t next = from;
        if (next_code_point(text, next) == U'\uFFFD' && next == from + 1) break;
        from = next;
    }
    return from;
}

}  // namespace

std::string_view valid_utf8(std::string_view text, std::string& memory) {
    std::size_t invalid = find_invalid(text, 0);
    if (invalid == text.size()) return text;
    memory.clear();
    for (std::size_t begin = 0;; invalid = find_invalid(text, begin)) {
        memory.append(text, begin, invalid - begin);
        if (invalid == text.size()) return memory;
        begin = invalid + 1;
    }
}

}  // namespace bertpretrain
