#include "text/letters.h"

#include "text/utf8.h"
#include "text/white_space.h"

namespace bertpretrain {

std::string letters_apart(std::string_view text) {
    std::string apart;
    apart.reserve(2 * text.size());
    bool begins_line = true;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        next_code_point(text, at);
        const std::string_view letter = text.substr(begin, at - begin);
        if (letter == "\n") apart += '\n';
        if (letter == "\n" || is_blank_line(letter)) {
            begins_line = begins_line || letter == "\n";
            continue;
        }
        if (!begins_line) apart += ' ';
        apart += letter;
        begins_line = false;
    }
    return apart;
}

}  // namespace bertpretrain
