#pragma once
// Stores texts with all of their white space in sentence text, where an empty line ends a document and CR ends a line.

#include <string>
#include <string_view>
#include <utility>

#include "text/line_ends.h"
#include "text/white_space.h"

namespace bertpretrain {

/// Returns the text in lines that each end with "\n", none of them blank, from which for_each_kept_text() restores it. Control
/// characters stand for what such lines cannot hold. Returns "" for a text of white space only.
std::string kept_lines(std::string_view text);

/// Appends the text of one such line, without its line end.
void append_kept_line(std::string_view line, std::string& text);

/// Calls visit(text) for every document in sentence text that kept_lines() made.
template <class Visit>
void for_each_kept_text(std::string_view sentence_text, Visit&& visit) {
    std::string text;
    bool is_open = false;
    const auto close = [&] {
        if (std::exchange(is_open, false)) visit(std::string_view(text));
        text.clear();
    };
    for_each_universal_line(sentence_text, [&](std::string_view line) {
        if (is_blank_line(line)) return close();
        if (std::exchange(is_open, true)) text += '\n';
        append_kept_line(line, text);
    });
    close();
}

}  // namespace bertpretrain
