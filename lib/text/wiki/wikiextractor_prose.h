#pragma once
// Cleans the text of WikiExtractor's documents.

#include <string>
#include <string_view>
#include <vector>

#include "text/wiki/wiki_lines.h"

namespace bertpretrain {

/// Like paragraphs_of_lines(), for WikiExtractor's output: every line is a paragraph; tags and references are resolved. Removes
/// the markup that WikiExtractor leaves: rows and header cells of tables, links and categories, and its own marks of headings
/// and list items ("Section::::", "BULLET::::").
std::vector<std::string> paragraphs_of_prose(std::string_view text, ProseRules rules = {});

}  // namespace bertpretrain
