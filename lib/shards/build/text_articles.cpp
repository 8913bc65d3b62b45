#include "shards/build/text_articles.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/utf8_check.h"
#include "text/no_document.h"
#include "text/reader/text_lineage.h"

namespace bertpretrain {
namespace {

constexpr std::size_t bytes_at_once = std::size_t{1} << 20;

/// Whether a path leads to another file than before. A file that is written to may grow; one with its size and time is the same
/// one, also on file systems that give it another inode number each time.
bool is_another_file(const FileIdentity& now, FileIdentity before) {
    if (now.device == before.device && now.inode == before.inode) return false;
    before.device = now.device;
    before.inode = now.inode;
    return now != before;
}

std::span<unsigned char> bytes_of(std::string& text) { return {reinterpret_cast<unsigned char*>(text.data()), text.size()}; }

}  // namespace

/// Scans one file, with lines of any length, and records its articles.
class TextArticles::Scan {
public:
    Scan(TextArticles& articles, std::uint32_t file, std::uint64_t part_bytes)
        : articles_(articles), file_(file), part_bytes_(part_bytes), check_(articles.files_[file].path.string()) {
        part_.file = file;
    }

    void run(const RandomAccessFile& file) {
        std::string buffer;
        while (offset_ < file.identity().bytes) {
            buffer.resize(std::min<std::uint64_t>(bytes_at_once, file.identity().bytes - offset_));
            file.read_at(offset_, bytes_of(buffer));
            std::string_view text(buffer);
            if (const std::size_t whole = whole_characters(text); whole > 0) text = text.substr(0, whole);
            check_.add(text);
            digest_.add(text);
            walk(text);
            if ((sentences_ > 0 || line_has_text_) && offset_ - article_begin_ > largest_article) refuse_long_article();
        }
        check_.finish();
        end_line();
        end_article();
        end_part();
        articles_.total_bytes_ += offset_;
        add_digest();
    }

private:
    void add_digest() {
        const std::filesystem::path& path = articles_.files_[file_].path;
        FileDigest digest = digest_.finish(path.string());
        digest.made_from = origin_of_text(path, digest);
        articles_.digests_.push_back(std::move(digest));
    }

    /// @param text whole characters
    void walk(std::string_view text) {
        const bool has_returns = text.find('\r') != std::string_view::npos;  // rare; one search for both is much slower
        if (std::exchange(after_return_, false) && text.starts_with('\n')) {
            text.remove_prefix(1);
            line_begin_ = ++offset_;
        }
        while (!text.empty()) {
            const std::size_t end = std::min(has_returns ? text.find_first_of("\r\n") : text.find('\n'), text.size());
            if (!line_has_text_ && !is_blank_line(text.substr(0, end))) {
                line_has_text_ = true;
                if (sentences_ == 0) article_begin_ = line_begin_;
            }
            const bool has_end = end < text.size();
            const std::string_view line_end = text.substr(end).starts_with("\r\n") ? "\r\n" : text.substr(end, 1);
            text.remove_prefix(end + line_end.size());
            offset_ += end + line_end.size();
            if (has_end) end_line();
            after_return_ = text.empty() && line_end == "\r";
        }
    }

    void end_line() {
        if (line_has_text_) ++sentences_;
        else end_article();
        line_has_text_ = false;
        line_begin_ = offset_;
    }

    void end_article() {
        if (sentences_ == 0) return;
        if (part_.articles == 0) {
            part_.offset = article_begin_;
            part_.first_article = static_cast<std::uint32_t>(articles_.size());
        }
        articles_.sentence_counts_.push_back(sentences_);
        if (articles_.size() >= std::numeric_limits<std::int32_t>::max())
            throw DataError(
                concat(articles_.files_[file_].path.string(), ": more than 2^31 articles up to this file; use fewer texts"));
        ++part_.articles;
        part_.bytes = line_begin_ - part_.offset;
        sentences_ = 0;
        if (part_.bytes >= part_bytes_) end_part();
    }

    void end_part() {
        if (part_.articles > 0) articles_.parts_.push_back(part_);
        part_.articles = 0;
    }

    [[noreturn]] void refuse_long_article() const {
        throw DataError(concat(articles_.files_[file_].path.string(), ": the article that begins at byte ", article_begin_,
                               " is larger than ", largest_article >> 20,
                               " MiB\n  do: put an empty line after each article, and each sentence on its own line"));
    }

    TextArticles& articles_;
    std::uint32_t file_;
    std::uint64_t part_bytes_;
    TextPart part_;
    Utf8Check check_;
    RunningDigest digest_;
    std::uint64_t offset_ = 0, line_begin_ = 0, article_begin_ = 0;
    std::uint32_t sentences_ = 0;                        // in the current article
    bool line_has_text_ = false, after_return_ = false;  // after_return_: the text so far ends with a CR
};

TextArticles::TextArticles(const std::vector<std::filesystem::path>& files, std::uint64_t part_bytes) {
    for (std::uint32_t i = 0; i < files.size(); ++i) {
        const RandomAccessFile file(files[i]);
        files_.push_back({files[i], file.identity()});
        Scan(*this, i, part_bytes).run(file);
    }
    if (size() == 0) throw NoDocumentError(concat("no article in ", files.size(), " text files; expected one sentence per line"));
}

std::string TextArticles::read(const TextPart& part) const {
    const auto& [path, identity] = files_[part.file];
    const RandomAccessFile file(path);
    if (is_another_file(file.identity(), identity))
        throw DataError(
            concat(path.string(), ": was replaced while it was being read\n  do: start again when no program writes it"));
    std::string text(part.bytes, '\0');
    file.read_at(part.offset, bytes_of(text));
    return text;
}

}  // namespace bertpretrain
