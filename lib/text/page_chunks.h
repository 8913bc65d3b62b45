#pragma once
// A file cut between its pages, so that threads can read the parts.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/task_pool.h"
#include "text/content.h"
#include "text/page.h"

namespace bertpretrain {

/// What does not change within a file.
struct PageFile {
    enum class Format { dump, wikiextractor };
    std::string name;  ///< for messages
    Format format = Format::dump;
    std::string encoding;                         ///< as expat names it; empty: what XML says where nothing is said
    Namespaces namespaces = common_namespaces();  ///< with the site's own names, from its <siteinfo>
};

/// Whole pages of a file, as they stand there.
struct PageChunk {
    std::shared_ptr<const PageFile> file;
    std::string text;
    std::uint64_t first_byte = 0, first_line = 1;  ///< where it stands in the unpacked file
    bool is_last = false;                          ///< holds what follows the last page, which should be </mediawiki>
    /// Older revisions of the page at `gap_at` are left out, so many bytes and lines.
    std::uint64_t gap_at = 0, gap_bytes = 0, gap_lines = 0;
};

/// Reads MediaWiki dumps (XML in UTF-8, UTF-16 with byte order mark, ISO-8859-1 or US-ASCII) and WikiExtractor's output (<doc>
/// elements), told apart by how they begin, packed or not. Memory: a chunk; a page may take 64 MiB without its older revisions.
class PageChunks {
public:
    /// @param pool unpacks ahead; outlives this @throws DataError as open_content()
    PageChunks(const std::filesystem::path& path, TaskPool& pool);

    /// The next chunk, about a mebibyte; false behind the last. Its text is not checked yet: parse_pages() does that.
    /// @throws DataError where the file is damaged, is neither kind, or has a page that is too large
    bool next(PageChunk& chunk);

    /// Bytes of the file taken so far, packed as they are.
    std::uint64_t bytes_read() const { return content_->bytes_read(); }

private:
    void begin();
    void read_header();
    bool fill();
    std::string decoded(std::string_view wide);
    void leave_out_old_revisions();
    void take(PageChunk& chunk, std::size_t bytes);
    [[noreturn]] void complain(const std::string& what) const;

    std::unique_ptr<Content> content_;
    std::shared_ptr<PageFile> file_ = std::make_shared<PageFile>();
    std::string_view page_end_;
    std::string raw_, pending_;  ///< as read, and decoded to what is parsed
    std::size_t searched_ = 0;   ///< bytes of `pending_` in which no page ends
    static constexpr std::size_t long_page = std::size_t{8} << 20;
    std::size_t long_page_ = long_page;  ///< bytes without a page's end from which on older revisions are left out
    std::uint64_t byte_ = 0, line_ = 1;
    std::uint64_t gap_at_ = 0, gap_bytes_ = 0, gap_lines_ = 0;  ///< within `pending_`
    enum class Width { one, two_little, two_big } width_ = Width::one;
    bool began_ = false, ended_ = false, finished_ = false;
};

}  // namespace bertpretrain
