#pragma once
// Splits a file between its pages, so that threads can parse the parts in parallel.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/threads/task_pool.h"
#include "text/content/content.h"
#include "text/wiki/page_chunk.h"

namespace bertpretrain {

/// Reads MediaWiki dumps (XML in UTF-8, UTF-16 with a byte order mark, ISO-8859-1 or US-ASCII) and WikiExtractor's output (<doc>
/// elements), compressed or not. A file may hold several dumps one after the other, or pages without <mediawiki> around them.
/// Recognises the format by how the file begins. Memory: a chunk; one page may take 64 MiB, older
/// revisions not counted.
class PageChunks {
public:
    /// @param pool decompresses ahead; must outlive this @throws DataError like open_content()
    PageChunks(const std::filesystem::path& path, TaskPool& pool);
    /// @param name for messages
    PageChunks(std::unique_ptr<Content> content, std::string name);

    /// Reads the next chunk, about 1 MiB; returns false after the last one. parse_pages() checks the chunk's text, not this.
    /// @throws DataError when the file is damaged, has neither format, or has a page that is too large
    bool next(PageChunk& chunk);

    /// Number of (compressed) bytes read from the file.
    std::uint64_t bytes_read() const { return content_->bytes_read(); }

private:
    void begin();
    void begin_next_dump();
    void read_header();
    void skip(std::size_t bytes);
    bool fill();
    std::string decoded(std::string_view wide);
    void leave_out_old_revisions();
    void take(PageChunk& chunk, std::size_t bytes);
    [[noreturn]] void complain(const std::string& what) const;

    std::unique_ptr<Content> content_;
    std::shared_ptr<PageFile> file_ = std::make_shared<PageFile>();
    std::string_view page_end_;
    std::string raw_, pending_;  ///< bytes as read, and decoded text not yet returned
    std::size_t searched_ = 0;   ///< size of the start of pending_ in which no page ends
    static constexpr std::size_t long_page = std::size_t{8} << 20;
    std::size_t long_page_ = long_page;                         ///< size of pending_ above which older revisions are left out
    std::uint64_t byte_ = 0, line_ = 1;                         ///< position of pending_ in the decompressed file
    std::uint64_t gap_at_ = 0, gap_bytes_ = 0, gap_lines_ = 0;  ///< revisions left out of pending_
    enum class Width { one, two_little, two_big } width_ = Width::one;
    bool began_ = false, ended_ = false, finished_ = false;
    bool dump_ended_ = false;  ///< whether the last chunk ended with </mediawiki>, which another dump may follow
};

}  // namespace bertpretrain
