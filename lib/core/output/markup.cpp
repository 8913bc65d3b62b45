#include "core/output/markup.h"

namespace bertpretrain {

std::string escape_markup(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        if (c == '<') safe += "&lt;";
        else if (c == '>') safe += "&gt;";
        else if (c == '&') safe += "&amp;";
        else if (c == '"') safe += "&quot;";
        else if (static_cast<unsigned char>(c) < 0x20 && c != '\n') safe += ' ';
        else safe += c;
    }
    return safe;
}

}  // namespace bertpretrain
