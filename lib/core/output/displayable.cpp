#include "core/output/displayable.h"

#include <cstddef>

namespace bertpretrain {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

/// Size in bytes of the well-formed UTF-8 character at the start of `text` (Unicode, table 3-7); 0 when there is none.
std::size_t character_size(std::string_view text) {
    const unsigned first = byte_at(text, 0);
    if (first < 0x80) return 1;
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
    const unsigned second = byte_at(text, 1);
    const unsigned lowest = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned highest = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (second < lowest || second > highest) return 0;
    for (std::size_t i = 2; i < size; ++i)
        if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
    return size;
}

bool is_control(std::string_view character) {
    const unsigned first = byte_at(character, 0);
    return first < 0x20 || first == 0x7f || (first == 0xc2 && character.size() == 2 && byte_at(character, 1) < 0xa0);
}

}  // namespace

std::string displayable(std::string_view text, std::string_view allowed) {
    constexpr char digits[] = "0123456789abcdef";
    std::string shown;
    while (!text.empty()) {
        const std::size_t size = character_size(text);
        const std::string_view character = text.substr(0, size == 0 ? 1 : size);
        const bool stays = size > 0 && (!is_control(character) || allowed.find(character) != allowed.npos);
        if (stays) shown += character;
        else
            for (const char byte : character) (shown += "\\x") += {digits[(byte >> 4) & 15], digits[byte & 15]};
        text.remove_prefix(character.size());
    }
    return shown;
}

}  // namespace bertpretrain
