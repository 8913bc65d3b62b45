#pragma once
// Lines of wikitext -> paragraphs of prose.

#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// What is left once tags, templates, tables and links are gone, as paragraphs: lines in a row belong together. Headings, lists
/// (* # ; :), preformatted lines (a leading blank), remains of tables, lines in parentheses or of punctuation only end a
/// paragraph and vanish. Bold marks vanish, italic ones become quotation marks; character references are decoded; blanks are
/// single.
std::vector<std::string> paragraphs_of_lines(std::string_view text);

/// One line without ''italic'' and '''bold''' marks; italics become "quotes" where they pair up in the line.
std::string without_quote_marks(std::string_view line);

/// Single blanks, and no stubs where something was dropped: "(, born 1950)" -> "(born 1950)", "Foo ( ; ) is" -> "Foo is",
/// "Greek , i.e." -> "Greek, i.e.".
std::string tidy(std::string_view line);

}  // namespace bertpretrain
