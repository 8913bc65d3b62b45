#include "text/wiki/page_chunks.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "text/content/byte_order_mark.h"
#include "text/content/byte_source.h"
#include "text/content/open_content.h"
#include "text/utf8.h"
#include "text/wiki/dump_parser.h"

namespace bertpretrain {
namespace {

constexpr std::size_t read_bytes = std::size_t{1} << 18;
constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
constexpr std::size_t format_shows_in = 64;
constexpr std::size_t largest_header = std::size_t{16} << 20;
// MediaWiki accepts no text above 2 MiB, which is up to six times as large when written as character references.
constexpr std::size_t largest_page = std::size_t{64} << 20;
constexpr std::string_view dump_end = "</mediawiki>", white_space = " \t\r\n";

/// Returns the position of "<page>", which may have attributes.
std::size_t find_page(std::string_view xml) {
    for (std::size_t at = xml.find("<page"); at != std::string_view::npos; at = xml.find("<page", at + 1))
        if (at + 5 < xml.size() && (xml[at + 5] == '>' || white_space.find(xml[at + 5]) != std::string_view::npos)) return at;
    return std::string_view::npos;
}

std::uint64_t lines_in(std::string_view text) { return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')); }

}  // namespace

PageChunks::PageChunks(const std::filesystem::path& path, TaskPool& pool)
    : PageChunks(open_content(path, pool), path == standard_input ? "standard input" : path.string()) {}

PageChunks::PageChunks(std::unique_ptr<Content> content, std::string name) : content_(std::move(content)) {
    file_->name = std::move(name);
}

void PageChunks::complain(const std::string& what) const {
    throw DataError(concat(file_->name, ": ", what, " (line ", line_, ", byte ", byte_, " of its text)"));
}

bool PageChunks::fill() {
    if (ended_) return false;
    const std::size_t before = raw_.size();
    std::string& into = width_ == Width::one && began_ ? pending_ : raw_;
    const std::size_t filled = into.size();
    into.resize(filled + read_bytes);
    const std::size_t count = content_->read(into.data() + filled, read_bytes);
    into.resize(filled + count);
    ended_ = count == 0;
    if (width_ != Width::one) pending_ += decoded(std::exchange(raw_, {}));
    if (ended_ && began_ && before > 0 && width_ != Width::one && !raw_.empty())
        complain("ends in the middle of a UTF-16 character; download it again");
    return !ended_;
}

/// Converts UTF-16 to UTF-8. Puts an incomplete character at the end back into raw_.
std::string PageChunks::decoded(std::string_view wide) {
    const auto unit = [&](std::size_t at) {
        const auto first = static_cast<unsigned char>(wide[at]), second = static_cast<unsigned char>(wide[at + 1]);
        return static_cast<char32_t>(width_ == Width::two_little ? second << 8 | first : first << 8 | second);
    };
    std::string text;
    std::size_t i = 0;
    for (; i + 1 < wide.size(); i += 2) {
        char32_t c = unit(i);
        if (c >= 0xD800 && c < 0xDC00) {
            if (i + 3 >= wide.size()) break;
            const char32_t low = unit(i + 2);
            if (low < 0xDC00 || low > 0xDFFF)
                complain("has half a character (a lone surrogate) in its UTF-16 near here; download it again");
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
            i += 2;
        }
        append_code_point(text, c);
    }
    raw_ = wide.substr(i);
    return text;
}

void PageChunks::begin() {
    while (raw_.size() < format_shows_in && fill()) {}
    if (raw_.starts_with("\xFF\xFE")) width_ = Width::two_little;
    else if (raw_.starts_with("\xFE\xFF")) width_ = Width::two_big;
    pending_ = width_ == Width::one ? std::exchange(raw_, {}) : decoded(std::exchange(raw_, {}).substr(2));
    began_ = true;
    if (pending_.starts_with(utf8_mark)) pending_.erase(0, utf8_mark.size());
    const std::string_view start =
        std::string_view(pending_).substr(std::min(pending_.find_first_not_of(white_space), pending_.size()));
    if (start.empty() && ended_) complain("is empty, expected a MediaWiki dump or WikiExtractor's output; get it again");
    if (!start.empty() && start.front() != '<')
        complain("is not a MediaWiki dump and not WikiExtractor's output: it begins with neither <mediawiki> nor <doc>");
    if (start.starts_with("<doc ")) {
        file_->format = PageFile::Format::wikiextractor;
        page_end_ = "\n</doc>";
    } else {
        page_end_ = "</page>";
        read_header();
    }
}

void PageChunks::read_header() {
    if (width_ != Width::one) file_->encoding = "UTF-8";
    std::size_t first_page = find_page(pending_);
    while (first_page == std::string::npos && pending_.size() < largest_header && fill()) first_page = find_page(pending_);
    const bool is_whole = first_page == std::string::npos && ended_;
    const PageChunk header{file_, pending_.substr(0, first_page), byte_, line_, is_whole};
    parse_header(header, *file_);
    if (first_page == std::string::npos && !is_whole)
        complain("has no <page> in its first 16 MiB, so it is not a dump of pages; pass a pages-articles.xml or .xml.bz2 file");
    skip(header.text.size());
    finished_ = is_whole;
}

void PageChunks::skip(std::size_t bytes) {
    byte_ += bytes;
    line_ += lines_in(std::string_view(pending_).substr(0, bytes));
    pending_.erase(0, bytes);
}

/// Begins the dump that follows another one in the file, as `cat` joins them; finishes if there is none.
void PageChunks::begin_next_dump() {
    std::size_t begin = 0;
    while ((begin = pending_.find_first_not_of(white_space)) == std::string::npos) {
        skip(pending_.size());
        finished_ = !fill();
        if (finished_) return;
    }
    skip(begin);
    while (pending_.size() < format_shows_in && fill()) {}
    if (pending_.starts_with(utf8_mark)) skip(utf8_mark.size());
    auto file = std::make_shared<PageFile>();
    file->name = file_->name;
    file_ = std::move(file);
    read_header();
}

bool PageChunks::next(PageChunk& chunk) {
    if (!began_) begin();
    if (std::exchange(dump_ended_, false)) begin_next_dump();
    while (!finished_) {
        if (pending_.size() >= chunk_bytes || ended_) {
            const std::size_t from = searched_ - std::min(searched_, dump_end.size());
            if (file_->format == PageFile::Format::dump) {
                const std::size_t last = pending_.find(dump_end, from);
                dump_ended_ = last != std::string::npos;
                if (dump_ended_) {
                    take(chunk, last + dump_end.size());
                    chunk.is_last = true;
                    return true;
                }
            }
            const std::size_t end = std::string_view(pending_).substr(from).rfind(page_end_);
            if (end != std::string_view::npos) {
                take(chunk, from + end + page_end_.size());
                return true;
            }
            searched_ = pending_.size();
            if (pending_.size() > long_page_ && file_->format == PageFile::Format::dump) leave_out_old_revisions();
            if (pending_.size() > largest_page) complain("has a page of more than 64 MiB, far more than MediaWiki allows");
        }
        if (!fill()) {
            if (pending_.find(page_end_) != std::string::npos) continue;
            finished_ = true;
            const bool is_rest = pending_.find_first_not_of(white_space) != std::string::npos;
            if (!is_rest && file_->format == PageFile::Format::wikiextractor) return false;
            take(chunk, pending_.size());
            chunk.is_last = true;
            return true;
        }
    }
    return false;
}

/// Drops all but the last revision of the pending page, which alone is used: a page with its whole history may exceed the memory.
void PageChunks::leave_out_old_revisions() {
    const std::size_t first = pending_.find("<revision"), last = pending_.rfind("<revision");
    long_page_ = pending_.size() + long_page;  // not more often, as the search begins at the page's start
    if (first == std::string::npos || first == last) return;
    gap_at_ = first;
    gap_bytes_ += last - first;
    gap_lines_ += lines_in(std::string_view(pending_).substr(first, last - first));
    pending_.erase(first, last - first);
    searched_ = first;
    long_page_ = pending_.size() + long_page;
}

void PageChunks::take(PageChunk& chunk, std::size_t bytes) {
    std::string rest = pending_.substr(bytes);
    pending_.resize(bytes);
    chunk = {file_,
             std::exchange(pending_, std::move(rest)),
             byte_,
             line_,
             false,
             gap_at_,
             std::exchange(gap_bytes_, 0),
             std::exchange(gap_lines_, 0)};
    searched_ = 0;
    long_page_ = long_page;
    byte_ += chunk.text.size() + chunk.gap_bytes;
    line_ += lines_in(chunk.text) + chunk.gap_lines;
}

}  // namespace bertpretrain
