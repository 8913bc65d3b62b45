#pragma once
// What a page is, whatever file it comes from.

#include <cstdint>
#include <map>
#include <string>

namespace bertpretrain {

/// One page as the dump has it; of several revisions the last one in the file (the newest).
struct Page {
    std::string title;
    std::int64_t ns = 0;  ///< MediaWiki's number of the namespace; 0 holds the articles
    std::int64_t id = 0;
    bool is_redirect = false;
    bool is_prose = false;  ///< `text` is no wikitext but paragraphs already, one per line
    std::string model;      ///< "wikitext" for prose; empty in old dumps, which had nothing else
    std::string text;       ///< in UTF-8
};

/// True for pages that hold an encyclopaedia's prose: namespace 0, wikitext, no redirect.
bool is_article(const Page& page);

/// Names of namespaces in lower case, with their numbers, e.g. {"file", 6}.
using Namespaces = std::map<std::string, std::int64_t, std::less<>>;

/// What every MediaWiki understands in English, whatever the site's language.
const Namespaces& common_namespaces();

}  // namespace bertpretrain
