#include "tokens/unicode/spaces.h"

#include "text/utf8.h"
#include "tokens/unicode/code_point_set.h"

namespace bertpretrain {
namespace {

bool is_space(char32_t c) {
    static const CodePointSet spaces = white_space();
    return spaces.contains(c, 0);
}

}  // namespace

std::size_t without_spaces_before(std::string_view text, std::size_t position) {
    for (std::size_t begin = position; position > 0; position = begin)
        if (!is_space(previous_code_point(text, begin))) break;
    return position;
}

std::size_t past_spaces(std::string_view text, std::size_t position) {
    for (std::size_t end = position; position < text.size(); position = end)
        if (!is_space(next_code_point(text, end))) break;
    return position;
}

}  // namespace bertpretrain
