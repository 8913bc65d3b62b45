#include "text/white_space.h"

#include <algorithm>

#include "text/utf8.h"

namespace bertpretrain {

bool is_white_space(char32_t c) {
    if (c < 0x80) return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20);
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

std::string_view stripped(std::string_view text) {
    std::size_t begin = 0, end = text.size();
    for (std::size_t next = 0; begin < end && is_white_space(next_code_point(text, next));) begin = next;
    while (end > begin) {
        std::size_t last = end - 1;
        if (static_cast<unsigned char>(text[last]) >= 0x80) previous_code_point(text, last = end);
        std::size_t after = last;
        if (!is_white_space(next_code_point(text, after))) break;
        end = last;
    }
    return text.substr(begin, end - begin);
}

bool is_blank_line(std::string_view line) {
    for (std::size_t next = 0; next < line.size();)
        if (!is_white_space(next_code_point(line, next))) return false;
    return true;
}

std::size_t whole_characters(std::string_view text) {
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
        const auto byte = static_cast<unsigned char>(text[text.size() - back]);
        if (byte < 0x80) break;
        if (byte < 0xC0) continue;
        const std::size_t length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
        return length > back ? text.size() - back : text.size();
    }
    return text.size();
}

}  // namespace bertpretrain
