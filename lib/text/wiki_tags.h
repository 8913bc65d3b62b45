#pragma once
// Comments, <tags> and what stands between them.

#include <string>
#include <string_view>

namespace bertpretrain {

/// Wikitext without comments and HTML-like tags. Elements that are not prose (ref, math, gallery, div, table, ...) vanish with
/// their content; of the others (span, sub, blockquote, ...) the content stays. Formulas
/// become "formula_1", "formula_2", ... so that their sentence keeps its grammar. What <nowiki> holds comes out with its markup
/// written as character references. A tag without its partner vanishes alone; names that MediaWiki does not know are text.
std::string without_tags(std::string_view wikitext);

/// Moves `position` behind spaces and tabs if `out` stands at the start of a line: where something was dropped, the blank behind
/// it must not turn prose into preformatted text.
void skip_blanks_at_line_start(const std::string& out, std::string_view in, std::size_t& position);

}  // namespace bertpretrain
