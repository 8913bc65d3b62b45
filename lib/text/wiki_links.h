#pragma once
// [[links|with labels]] and [https://example.org external ones].

#include <string>
#include <string_view>

#include "text/page.h"

namespace bertpretrain {

/// Wikitext in which links have become their labels. Links into other namespaces (files with their captions, categories, ...) and
/// to other languages' articles vanish; a title with a colon ([[2001: A Space Odyssey]]) does not. External links keep their
/// label, or vanish when they have none. Brackets without a partner vanish, what stood in them stays.
std::string without_links(std::string_view wikitext, const Namespaces& namespaces);

}  // namespace bertpretrain
