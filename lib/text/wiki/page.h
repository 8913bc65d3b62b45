#pragma once
// A page, independent of the file format that it comes from.

#include <cstdint>
#include <map>
#include <string>

namespace bertpretrain {

/// A page of a dump. Of several revisions, the last one in the file (the newest).
struct Page {
    std::string title;
    std::int64_t ns = 0;  ///< MediaWiki's namespace number; 0 holds the articles
    std::int64_t id = 0;
    bool is_redirect = false;
    bool is_prose = false;  ///< `text` is not wikitext but paragraphs, one per line
    std::string model;      ///< content model, "wikitext" for articles; empty in old dumps, which had no other
    std::string text;       ///< in UTF-8
};

/// Whether the page is an article: in namespace 0, wikitext and not a redirect.
bool is_article(const Page& page);

/// Namespace names in lower case and their numbers, such as {"file", 6}.
using Namespaces = std::map<std::string, std::int64_t, std::less<>>;

/// The English names that MediaWiki accepts in every language.
const Namespaces& common_namespaces();

}  // namespace bertpretrain
