#include "text/line_ends.h"

#include <cstring>

namespace bertpretrain {

std::size_t LineEnds::convert(char* bytes, std::size_t size) {
    if (size == 0) return 0;
    char *from = bytes, *to = bytes;
    const char* const end = bytes + size;
    if (after_return_ && *from == '\n') ++from;
    after_return_ = false;
    while (from < end) {
        const auto left = static_cast<std::size_t>(end - from);
        auto* const found = static_cast<char*>(std::memchr(from, '\r', left));
        const std::size_t kept = found == nullptr ? left : static_cast<std::size_t>(found - from);
        if (to != from) std::memmove(to, from, kept);
        to += kept;
        if (found == nullptr) break;
        from = found + 1;
        *to++ = '\n';
        if (from == end) after_return_ = true;
        else if (*from == '\n') ++from;
    }
    return static_cast<std::size_t>(to - bytes);
}

std::string with_newlines(std::string text) {
    text.resize(LineEnds().convert(text.data(), text.size()));
    return text;
}

}  // namespace bertpretrain
