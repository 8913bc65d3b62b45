#pragma once
// Reads sentence files (one sentence per line, an empty line after each document) in blocks of whole documents.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/plain_text.h"
#include "core/task_pool.h"
#include "text/content.h"

namespace bertpretrain {

struct DocumentBlock {
    std::string file;              ///< for messages
    std::uint64_t first_line = 1;  /// of its file
    std::string text;              ///< whole documents, about 1 MiB or one document
};

/// Not thread-safe.
class DocumentBlocks {
public:
    static constexpr std::size_t largest_document = std::size_t{64} << 20;

    /// @param inputs files, also packed by gzip or bzip2, folders of them, or "-"  @param pool unpacks ahead; must outlive this
    /// @throws DataError when an input is missing  @throws ConfigError when standard input is named twice
    DocumentBlocks(const std::vector<std::filesystem::path>& inputs, TaskPool& pool);

    /// Returns false after the last block. @throws DataError when a file is damaged, is not UTF-8 text, or has a document of more
    /// than 64 MiB
    bool next(DocumentBlock& block);

    const std::vector<std::filesystem::path>& files() const { return files_; }
    std::uint64_t bytes_read() const { return bytes_before_ + (content_ ? content_->bytes_read() : 0); }
    std::uint64_t total_bytes() const { return total_bytes_; }  ///< as they lie on disk; 0: unknown

private:
    bool open_next();
    bool read_more();
    void take(std::size_t size, DocumentBlock& block);

    std::vector<std::filesystem::path> files_;
    TaskPool& pool_;
    std::uint64_t total_bytes_ = 0, bytes_before_ = 0;
    std::size_t opened_ = 0;
    std::unique_ptr<Content> content_;
    std::optional<PlainTextCheck> check_;
    std::string rest_;             ///< read, but not returned
    std::uint64_t rest_line_ = 1;  ///< line at which `rest_` begins
};

}  // namespace bertpretrain
