#pragma once
// Articles in text files by BERT's convention: one sentence per line, an empty line (or the file's end) ends an article.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bertpretrain {

/// Where the articles of a list of files lie; the text itself stays on the disk.
class TextArticles {
public:
    /// Reads through all files once.
    /// @throws DataError when a file cannot be read or no article is found
    explicit TextArticles(const std::vector<std::filesystem::path>& files);
    ~TextArticles();
    TextArticles(const TextArticles&) = delete;
    TextArticles& operator=(const TextArticles&) = delete;

    std::size_t size() const { return articles_.size(); }
    /// Lines that are not blank, at least 1.
    std::int64_t sentence_count(std::size_t article) const { return articles_[article].sentences; }
    std::uint64_t total_bytes() const { return total_bytes_; }
    /// The sentences of an article, without white space around them. Several threads may call it at once. @throws DataError
    std::vector<std::string> sentences(std::size_t article) const;

private:
    struct Article {
        std::uint32_t file = 0, sentences = 0;
        std::uint64_t offset = 0, bytes = 0;
    };
    void scan(std::uint32_t file);

    std::vector<std::filesystem::path> files_;
    std::vector<int> handles_;
    std::vector<Article> articles_;
    std::uint64_t total_bytes_ = 0;
};

}  // namespace bertpretrain
