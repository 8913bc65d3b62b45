#include "archive/printable.h"

#include <cctype>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {

std::string printable(std::string_view text, std::size_t longest) {
    constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (const char letter : text.substr(0, longest)) {
        const auto byte = static_cast<unsigned char>(letter);
        if (std::isprint(byte) != 0) out += letter;
        else (out += "\\x") += {digits[byte >> 4], digits[byte & 15]};
    }
    return text.size() > longest ? out + "..." : out;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    std::vector<std::string> sizes;
    for (const std::int64_t size : shape) sizes.push_back(std::to_string(size));
    return concat("[", join(sizes), "]");
}

}  // namespace bertpretrain
