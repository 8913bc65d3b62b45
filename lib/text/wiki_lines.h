#pragma once
// Turns lines of wikitext into paragraphs of prose.

#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// Returns the paragraphs of wikitext from which tags, templates, tables and links have been removed. Consecutive lines form a
/// paragraph. Headings, lists (* # ; :), preformatted lines (a leading space), remains of tables, and lines in parentheses or
/// with only punctuation are dropped and end a paragraph. Bold marks are removed, italic marks become quotation marks, character
/// references are decoded, and white space is collapsed. @param tidies whether to apply tidy()
std::vector<std::string> paragraphs_of_lines(std::string_view text, bool tidies = false);

/// Like paragraphs_of_lines(), for another program's prose: every line is a paragraph; tags and references are resolved.
std::vector<std::string> paragraphs_of_prose(std::string_view text, bool tidies = false);

/// Removes ''italic'' and '''bold''' marks from a line. Italic marks become double quotes when they pair up in the line. With
/// `tidies`, marks of bold italics do too, and marks next to a double quote of the text do not.
std::string without_quote_marks(std::string_view line, bool tidies = false);

/// Collapses each run of spaces, tabs, control characters and line separators into one space, removes those at the ends, and
/// keeps at most three dots in a row. No-break spaces and other wide spaces are kept.
std::string single_blanks(std::string_view line);

/// Collapses white space of all kinds into single spaces and removes leftovers of dropped markup: "(, born 1950)" -> "(born
/// 1950)", "Foo ( ; ) is" -> "Foo is", "Greek , i.e." -> "Greek, i.e.".
std::string tidy(std::string_view line);

}  // namespace bertpretrain
