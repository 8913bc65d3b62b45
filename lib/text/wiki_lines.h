#pragma once
// Lines of wikitext -> paragraphs of prose.

#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// What is left once tags, templates, tables and links are gone, as paragraphs: lines in a row belong together. Headings, lists
/// (* # ; :), preformatted lines (a leading blank), remains of tables, lines in parentheses or of punctuation only end a
/// paragraph and vanish. Bold marks vanish, italic ones become quotation marks; character references are decoded; blanks are
/// single. @param tidies whether what vanished markup leaves behind is mended: see tidy()
std::vector<std::string> paragraphs_of_lines(std::string_view text, bool tidies = false);

/// The same for prose that another program has made: every line is a paragraph, and what remains of tags and character references
/// is read.
std::vector<std::string> paragraphs_of_prose(std::string_view text, bool tidies = false);

/// One line without ''italic'' and '''bold''' marks; italics become "quotes" where they pair up in the line. With `tidies`, bold
/// italics too, and none stands beside a quotation mark of the text.
std::string without_quote_marks(std::string_view line, bool tidies = false);

/// One space for every run of spaces, tabs, control characters and line separators, none at the ends; at most three dots in a
/// row. No-break and other wide blanks stay.
std::string single_blanks(std::string_view line);

/// Single blanks, all of them spaces, and no stubs where something was dropped: "(, born 1950)" -> "(born 1950)", "Foo ( ; ) is"
/// -> "Foo is", "Greek , i.e." -> "Greek, i.e.".
std::string tidy(std::string_view line);

}  // namespace bertpretrain
