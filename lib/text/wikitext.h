#pragma once
// MediaWiki's markup -> prose.

#include <string>
#include <string_view>
#include <vector>

#include "text/page.h"

namespace bertpretrain {

/// The prose of a page, one string per paragraph, none empty, no line breaks inside. Time is linear in the page's size and
/// nothing recurses, whatever the markup.
/// What is dropped follows the extractor behind BERT's published recipes: templates (unexpanded), tables, references, formulas,
/// files with captions, headings, lists. What a template leaves behind, such as "()", stays as it does there, unless `tidies`.
std::vector<std::string> prose_of(std::string_view wikitext, const Namespaces& namespaces = common_namespaces(),
                                  bool tidies = false);

}  // namespace bertpretrain
