#pragma once
// Turns MediaWiki's markup into prose.

#include <string>
#include <string_view>
#include <vector>

#include "text/wiki/page.h"
#include "text/wiki/wiki_lines.h"

namespace bertpretrain {

/// Returns the prose of a page, one string per paragraph, none empty or with a line break. Linear in time, without recursion.
/// Drops what WikiExtractor drops, which BERT's published recipes use: templates (unexpanded), tables, references, formulas,
/// files with captions, headings, and list items unless `rules` keep them. Leftovers of templates, such as "()", are kept as
/// WikiExtractor does, unless `rules.tidies`.
std::vector<std::string> prose_of(std::string_view wikitext, const Namespaces& namespaces = common_namespaces(),
                                  ProseRules rules = {});

}  // namespace bertpretrain
