#pragma once
// What markup begins with.

#include <string_view>

namespace bertpretrain {

enum class Markup {
    none,
    dump,          ///< MediaWiki's XML, also a piece that begins with a page instead of <mediawiki>
    doc_elements,  ///< WikiExtractor's output
    abstracts,     ///< MediaWiki's feed of abstracts, which are no texts
    store_error,   ///< the answer of an object store that refused a download
    cut_dump,      ///< pages of a dump, the first one without its beginning, as in a piece made by `split -b`
    cut_docs,      ///< the same of WikiExtractor's output
    html,
    xml,  ///< any other
};

/// Returns what markup a text is. Looks at its first element, after white space, comments, declarations and processing
/// instructions. Comments alone are none, since Markdown may begin with them. @param head the text's first bytes, in UTF-8
Markup markup_of(std::string_view head);

}  // namespace bertpretrain
