#include "text/formats/kept_lines.h"

namespace bertpretrain {
namespace {

// BERT's rules for words drop control characters, so articles with the same words stay the same (article_contents.h).
constexpr char escape = '\x01', return_sign = '\x02', blank_sign = '\x03';

void append_escaped(std::string_view line, std::string& kept) {
    if (is_blank_line(line)) kept.append({escape, blank_sign});
    for (const char c : line) {
        if (c == '\r') kept.append({escape, return_sign});
        else if (c == escape) kept.append({escape, escape});
        else kept += c;
    }
    kept += '\n';
}

}  // namespace

std::string kept_lines(std::string_view text) {
    std::string kept;
    if (is_blank_line(text)) return kept;
    kept.reserve(text.size() + 1);
    for (;;) {
        const std::size_t end = text.find('\n');
        append_escaped(text.substr(0, end), kept);
        if (end == std::string_view::npos) return kept;
        text.remove_prefix(end + 1);
    }
}

void append_kept_line(std::string_view line, std::string& text) {
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] != escape || i + 1 == line.size()) {
            text += line[i];
            continue;
        }
        ++i;
        if (line[i] == return_sign) text += '\r';
        else if (line[i] == escape) text += escape;
        else if (line[i] != blank_sign) text.append({escape, line[i]});  // of a dump, whose lines are not made here
    }
}

}  // namespace bertpretrain
