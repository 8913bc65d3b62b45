#pragma once
// A part of a file that one thread parses.

#include <cstdint>
#include <memory>
#include <string>

#include "text/wiki/page.h"

namespace bertpretrain {

/// Properties of a whole file.
struct PageFile {
    enum class Format { dump, wikiextractor };
    std::string name;  ///< for messages
    Format format = Format::dump;
    bool has_root = true;                         ///< whether <mediawiki> surrounds the pages
    std::string encoding;                         ///< expat's name for it; empty: XML's default
    Namespaces namespaces = common_namespaces();  ///< including the language's and the site's own (<siteinfo>)
    bool names_namespaces = false;                ///< whether <siteinfo> lists the site's own
};

/// Consecutive whole pages of a file, unparsed.
struct PageChunk {
    std::shared_ptr<const PageFile> file;
    std::string text;
    std::uint64_t first_byte = 0, first_line = 1;  ///< its position in the decompressed file
    bool is_last = false;  ///< holds what follows the last page, which should be </mediawiki> if there was a <mediawiki>
    /// Position and size of the older revisions that were left out of `text`.
    std::uint64_t gap_at = 0, gap_bytes = 0, gap_lines = 0;
};

}  // namespace bertpretrain
