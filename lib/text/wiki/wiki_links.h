#pragma once
// Replaces [[links|with labels]] and [https://example.org external links].

#include <string>
#include <string_view>

#include "text/wiki/page.h"

namespace bertpretrain {

/// Replaces links with their labels. Links to other namespaces (files with their captions, categories, ...) and to other
/// languages' articles are removed, but not titles with a colon ([[2001: A Space Odyssey]]). Other languages' names for files and
/// categories count too, because pages are copied between wikis. External links without a label are removed. Double brackets
/// without a partner are removed, and the text in them is kept.
/// @param all_names_known whether `namespaces` are all of the site's. Then other languages' names for categories count only where
/// a link has no text beside it in its line: "Class" is Cornish for category, but "see [[Class:Action]]" names an English
/// article.
std::string without_links(std::string_view wikitext, const Namespaces& namespaces, bool all_names_known = false);

}  // namespace bertpretrain
