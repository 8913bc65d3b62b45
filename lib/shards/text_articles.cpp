#include "shards/text_articles.h"

#include <limits>

#include "core/error.h"
#include "core/utf8_check.h"
#include "text/text_lineage.h"

namespace bertpretrain {
namespace {

constexpr std::size_t bytes_at_once = std::size_t{1} << 20;
constexpr std::string_view white_space = " \t\r\n\v\f";

}  // namespace

std::string_view without_white_space(std::string_view line) {
    const std::size_t first = line.find_first_not_of(white_space);
    if (first == std::string_view::npos) return {};
    return line.substr(first, line.find_last_not_of(white_space) + 1 - first);
}

/// Scans one file, with lines of any length, and records its articles.
class TextArticles::Scan {
public:
    Scan(TextArticles& articles, std::uint32_t file, std::uint64_t part_bytes)
        : articles_(articles), file_(file), part_bytes_(part_bytes), check_(articles.files_[file].path().string()) {
        part_.file = file;
    }

    void run() {
        std::vector<char> buffer(bytes_at_once);
        while (const std::size_t got = articles_.files_[file_].read_at(offset_, buffer.data(), buffer.size())) {
            check_.add({buffer.data(), got});
            digest_.add({buffer.data(), got});
            walk({buffer.data(), got});
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
        const std::filesystem::path& path = articles_.files_[file_].path();
        FileDigest digest = digest_.finish(path.string());
        digest.made_from = origin_of_text(path, digest);
        articles_.digests_.push_back(std::move(digest));
    }

    void walk(std::string_view text) {
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t found = text.find('\n', begin);
            const std::string_view line = text.substr(begin, found == std::string_view::npos ? found : found - begin);
            if (!line_has_text_ && line.find_first_not_of(white_space) != std::string_view::npos) {
                line_has_text_ = true;
                if (sentences_ == 0) article_begin_ = line_begin_;
            }
            begin += line.size();
            offset_ += line.size();
            if (found == std::string_view::npos) break;
            ++begin;
            ++offset_;
            end_line();
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
                concat(articles_.files_[file_].path().string(), ": more than 2^31 articles up to this file; use fewer texts"));
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
        throw DataError(concat(articles_.files_[file_].path().string(), ": the article that begins at byte ", article_begin_,
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
    std::uint32_t sentences_ = 0;  // in the current article
    bool line_has_text_ = false;
};

TextArticles::TextArticles(const std::vector<std::filesystem::path>& files, std::uint64_t part_bytes) {
    for (std::uint32_t i = 0; i < files.size(); ++i) {
        files_.emplace_back(files[i]);
        Scan(*this, i, part_bytes).run();
    }
    if (size() == 0) throw DataError(concat("no article in ", files.size(), " text files; expected one sentence per line"));
}

std::string TextArticles::read(const TextPart& part) const {
    std::string text(part.bytes, '\0');
    if (files_[part.file].read_at(part.offset, text.data(), text.size()) < text.size())
        throw DataError(concat(files_[part.file].path().string(), ": ended early; was it changed while it was being read?"));
    return text;
}

}  // namespace bertpretrain
