#pragma once
// The pages of a MediaWiki export file ("dump"), one after the other.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

namespace bertpretrain {

/// One page as the dump has it; of several revisions the last one in the file (the newest).
struct Page {
    std::string title;
    std::int64_t ns = 0;  ///< MediaWiki's number of the namespace; 0 holds the articles
    std::int64_t id = 0;
    bool is_redirect = false;
    std::string model;  ///< "wikitext" for prose; empty in old dumps, which had nothing else
    std::string text;   ///< wikitext, in UTF-8
};

/// True for pages that hold an encyclopaedia's prose: namespace 0, wikitext, no redirect.
bool is_article(const Page& page);

/// Names of namespaces in lower case, with their numbers, e.g. {"file", 6}.
using Namespaces = std::map<std::string, std::int64_t, std::less<>>;

/// What every MediaWiki understands in English, whatever the site's language.
const Namespaces& common_namespaces();

/// Reads a dump (.xml, .xml.bz2 with one or many streams, .xml.gz) from front to back. Memory: the largest page, plus what one
/// buffer of XML holds. Encodings: UTF-8, UTF-16 (with byte order mark), ISO-8859-1, US-ASCII; pages come out as UTF-8.
class DumpReader {
public:
    /// @throws DataError when the file is missing or empty
    explicit DumpReader(const std::filesystem::path& file);
    DumpReader(const DumpReader&) = delete;
    DumpReader& operator=(const DumpReader&) = delete;
    ~DumpReader();

    /// Takes the next page; false when the dump has ended as it should.
    /// @throws DataError with file, line and byte, where the file is damaged, cut short or not a dump; every whole page
    ///     before that place has come out by then
    bool next(Page& page);

    /// The site's own names (from its <siteinfo>) and the common ones; complete once the first page has come out.
    const Namespaces& namespaces() const;

    /// Bytes of the file taken so far, packed as they are.
    std::uint64_t bytes_read() const;

private:
    struct Parser;  ///< hides expat
    std::unique_ptr<Parser> parser_;
};

}  // namespace bertpretrain
