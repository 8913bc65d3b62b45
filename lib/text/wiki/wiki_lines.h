#pragma once
// Turns lines of wikitext into paragraphs of prose.

#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

struct ProseRules {
    bool tidies = false;       ///< whether to apply tidy()
    bool keeps_lists = false;  ///< whether list items are kept, each as a paragraph
    bool all_names_known =
        false;  ///< whether the namespaces are all of the site's, so that [[Class:Action]] is a title in English
};

/// Returns the paragraphs of wikitext from which tags, templates, tables and links have been removed. Consecutive lines form a
/// paragraph. Headings, list items (* # ; :, unless they are kept), preformatted lines (a leading space), remains of tables, and
/// lines in parentheses or with only punctuation are dropped and end a paragraph. Bold marks are removed, italic marks become
/// quotation marks, character references are decoded, and white space is collapsed.
std::vector<std::string> paragraphs_of_lines(std::string_view text, ProseRules rules = {});

/// Removes ''italic'' and '''bold''' marks from a line. Italic marks become double quotes when they pair up in the line. With
/// `tidies`, marks of bold italics do too, and marks next to a double quote of the text do not.
std::string without_quote_marks(std::string_view line, bool tidies = false);

/// Removes magic words such as __TOC__ from a line.
void drop_magic_words(std::string& line);

/// Collapses each run of spaces, tabs, control characters and line separators into one space, removes those at the ends, and
/// keeps at most three dots in a row. No-break spaces and other wide spaces are kept.
std::string single_blanks(std::string_view line);

/// Collapses white space of all kinds into single spaces and removes leftovers of dropped markup: "(, born 1950)" -> "(born
/// 1950)", "Foo ( ; ) is" -> "Foo is", "Greek , i.e." -> "Greek, i.e.".
std::string tidy(std::string_view line);

}  // namespace bertpretrain
