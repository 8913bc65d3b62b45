#pragma once
// A temporary file that sorts tokenized articles into groups, so that a corpus need not fit into memory.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "core/files/temporary_file.h"
#include "shards/build/documents.h"

namespace bertpretrain {

/// The file has no name, so it disappears however the program ends. It takes 4 bytes per token and per sentence. Only one thread
/// at a time may call add(); after finish() several threads may call read().
class TokenSpill {
public:
    /// @param folder the file is created on its file system  @throws DataError if that fails
    TokenSpill(const std::filesystem::path& folder, std::size_t groups);

    /// Adds an article to a group. @param words in ArticleWords' format  @throws DataError if the disk is full
    void add(std::size_t group, std::span<const std::int32_t> words);
    /// Writes out the buffers. Call it after the last article. @throws DataError if writing fails
    void finish();
    /// Returns a group's articles in the order in which they were added. @throws DataError if reading fails
    Documents read(std::size_t group) const;

private:
    struct Group {
        std::vector<std::int32_t> open;     // words buffered for the next block
        std::vector<std::uint64_t> blocks;  // file offsets
        std::uint64_t words = 0;
    };
    void write_block(Group& group);

    TemporaryFile file_;
    std::size_t block_words_;
    std::vector<Group> groups_;
};

/// Encodes an article for the spill: its number, its number of sentences, then each sentence's length and tokens.
class ArticleWords {
public:
    /// @param words the article is appended to it; must outlive this object
    ArticleWords(std::vector<std::int32_t>& words, std::uint32_t article);
    /// @param tokenize appends a sentence's ids to the vector passed to it; a sentence without ids is omitted
    template <class Tokenize>
    void add_sentence(Tokenize&& tokenize) {
        words_.push_back(0);
        const std::size_t begin = words_.size();
        tokenize(words_);
        words_[begin - 1] = static_cast<std::int32_t>(words_.size() - begin);
        if (words_.size() == begin) words_.pop_back();
        else ++words_[begin_ + 1];
    }
    /// Removes the article's words if it has no sentence.
    void finish();

private:
    std::vector<std::int32_t>& words_;
    std::size_t begin_;
};

}  // namespace bertpretrain
