#pragma once
// Removes comments and <tags>.

#include <string>
#include <string_view>

namespace bertpretrain {

/// Removes comments and HTML-like tags from wikitext. Elements that are not prose (ref, gallery, div, table, ...) are removed
/// with their content; the content of others (span, sub, blockquote, ...) is kept. Formulas become "formula_1", "formula_2", ...,
/// so that their sentences keep their grammar. The content of <nowiki> is kept, with its markup written as character references.
/// Of a tag without a partner only the tag is removed. Names that MediaWiki does not know are text.
std::string without_tags(std::string_view wikitext);

/// Advances `position` past spaces and tabs if `out` is at the start of a line. Otherwise the space after something that was
/// dropped would turn prose into preformatted text.
void skip_blanks_at_line_start(const std::string& out, std::string_view in, std::size_t& position);

}  // namespace bertpretrain
