#pragma once
// Text that is known to be valid UTF-8, and is therefore decoded without checks.

#include <cstddef>
#include <string>
#include <string_view>

namespace bertpretrain {

/// Returns `text` itself if it is valid UTF-8, otherwise a view of `memory`, a copy without the invalid bytes.
std::string_view valid_utf8(std::string_view text, std::string& memory);

/// Returns the code point at `position` of valid UTF-8, which must be its first byte, and advances `position` past it.
inline char32_t next_of_valid(std::string_view text, std::size_t& position) {
    const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[position + i])); };
    const auto inside = [&](std::size_t i) { return byte(i) & 0x3F; };
    const char32_t lead = byte(0);
    char32_t code_point = lead;
    std::size_t size = 1;
    if (lead >= 0xF0) {
        code_point = (lead & 0x07) << 18 | inside(1) << 12 | inside(2) << 6 | inside(3);
        size = 4;
    } else if (lead >= 0xE0) {
        code_point = (lead & 0x0F) << 12 | inside(1) << 6 | inside(2);
        size = 3;
    } else if (lead >= 0x80) {
        code_point = (lead & 0x1F) << 6 | inside(1);
        size = 2;
    }
    position += size;
    return code_point;
}

}  // namespace bertpretrain
