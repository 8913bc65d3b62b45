#pragma once
// All documents of a corpus in temporary files, so that inputs are read and unpacked once and standard input works too.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/files/temporary_file.h"

namespace bertpretrain {

struct StoredDocument {
    std::string source;  ///< where it was read, as "FILE:LINE"
    std::string text;    ///< one sentence per line, each ended by "\n"
};

/// One thread at a time may add documents; after finish(), any number of threads may read them. Takes no memory per document.
class DocumentStore {
public:
    /// @throws DataError when no temporary file can be created in `folder`
    explicit DocumentStore(const std::filesystem::path& folder) : text_(folder), offsets_(folder) {}

    /// Adds the document with the number size(). @throws DataError when the disk is full or there are 2^32 documents
    void add(std::string_view source, std::string_view text);
    /// Call it after the last document, before read(). @throws DataError when the disk is full
    void finish();

    std::uint32_t size() const { return size_; }
    /// @throws DataError when reading fails
    StoredDocument read(std::uint32_t document) const;
    std::string source_of(std::uint32_t document) const;

private:
    TemporaryFile text_, offsets_;
    std::uint32_t size_ = 0;
};

}  // namespace bertpretrain
