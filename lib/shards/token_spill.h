#pragma once
// Tokenized articles on the disk, sorted into groups while they come: a corpus need not fit into memory to be regrouped.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "shards/documents.h"

namespace bertpretrain {

/// A temporary file without a name (nothing is left of it whatever ends the program), four bytes per token and sentence.
/// Articles are added by one thread at a time; groups may be read by several.
class TokenSpill {
public:
    /// @param folder on whose disk the file lies @throws DataError
    TokenSpill(const std::filesystem::path& folder, std::size_t groups);
    ~TokenSpill();
    TokenSpill(const TokenSpill&) = delete;
    TokenSpill& operator=(const TokenSpill&) = delete;

    /// Adds an article to a group. @param words as ArticleWords makes them @throws DataError when the disk is full
    void add(std::size_t group, std::span<const std::int32_t> words);
    /// After the last article. @throws DataError
    void finish();
    /// A group's articles in the order in which they were added. @throws DataError
    Documents read(std::size_t group) const;

private:
    struct Group {
        std::vector<std::int32_t> open;     // words that wait for a whole block
        std::vector<std::uint64_t> blocks;  // offsets
        std::uint64_t words = 0;
    };
    void write_block(Group& group);

    std::filesystem::path folder_;
    int descriptor_ = -1;
    std::size_t block_words_;
    std::uint64_t bytes_ = 0;
    std::vector<Group> groups_;
};

/// An article as the spill keeps it: its number, its sentences' number, then each sentence's length and tokens.
class ArticleWords {
public:
    /// Words are added at the end of `words`.
    ArticleWords(std::vector<std::int32_t>& words, std::uint32_t article);
    /// @param tokenize appends a sentence's ids to the vector that it is given; a sentence without any is left out
    template <class Tokenize>
    void add_sentence(Tokenize&& tokenize) {
        words_.push_back(0);
        const std::size_t begin = words_.size();
        tokenize(words_);
        words_[begin - 1] = static_cast<std::int32_t>(words_.size() - begin);
        if (words_.size() == begin) words_.pop_back();
        else ++words_[begin_ + 1];
    }
    /// Takes the article's words away again when it has no sentence.
    void finish();

private:
    std::vector<std::int32_t>& words_;
    std::size_t begin_;
};

}  // namespace bertpretrain
