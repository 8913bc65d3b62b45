#include "shards/text_articles.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

std::string_view without_white_space(std::string_view line) {
    const std::size_t first = line.find_first_not_of(" \t\r\n\v\f");
    if (first == std::string_view::npos) return {};
    return line.substr(first, line.find_last_not_of(" \t\r\n\v\f") + 1 - first);
}

}  // namespace

TextArticles::TextArticles(const std::vector<std::filesystem::path>& files) : files_(files) {
    for (std::uint32_t i = 0; i < files_.size(); ++i) scan(i);
    if (articles_.empty())
        throw DataError(concat("no article in ", files_.size(), " text files; expected one sentence per line"));
    for (const auto& file : files_) {
        handles_.push_back(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
        if (handles_.back() < 0) throw DataError(concat(file.string(), ": cannot be read (", std::strerror(errno), ")"));
    }
}

TextArticles::~TextArticles() {
    for (const int handle : handles_) ::close(handle);
}

void TextArticles::scan(std::uint32_t file) {
    errno = 0;
    std::ifstream in(files_[file], std::ios::binary);
    if (!in || std::filesystem::is_directory(files_[file]))
        throw DataError(concat(files_[file].string(), ": cannot be read (", in ? "a folder" : std::strerror(errno), ")"));
    std::uint64_t offset = 0;
    Article article{file, 0, 0, 0};
    const auto finish = [&] {
        if (article.sentences > 0) articles_.push_back(article);
        article = {file, 0, 0, 0};
    };
    for (std::string line; std::getline(in, line);) {
        if (without_white_space(line).empty()) {
            finish();
        } else {
            if (article.sentences++ == 0) article.offset = offset;
            article.bytes = offset + line.size() - article.offset;
        }
        offset += line.size() + 1;
    }
    finish();
    if (in.bad()) throw DataError(concat(files_[file].string(), ": cannot be read to its end"));
    total_bytes_ += offset;
}

std::vector<std::string> TextArticles::sentences(std::size_t index) const {
    const Article& article = articles_[index];
    std::string text(article.bytes, '\0');
    std::size_t have = 0;
    while (have < text.size()) {
        const ssize_t got =
            ::pread(handles_[article.file], text.data() + have, text.size() - have, static_cast<off_t>(article.offset + have));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) throw DataError(concat(files_[article.file].string(), ": ended early; was it changed while being read?"));
        have += static_cast<std::size_t>(got);
    }
    std::vector<std::string> sentences;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = without_white_space(std::string_view(text).substr(begin, end - begin));
        if (!line.empty()) sentences.emplace_back(line);
        begin = end + 1;
    }
    return sentences;
}

}  // namespace bertpretrain
