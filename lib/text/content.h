#pragma once
// What a file holds once it is unpacked.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/task_pool.h"

namespace bertpretrain {

class Content {
public:
    Content() = default;
    Content(const Content&) = delete;
    Content& operator=(const Content&) = delete;
    virtual ~Content() = default;

    /// The next bytes of the content, up to `size`; 0 only at its end.
    /// @throws DataError naming the byte where the file is damaged or cut short
    virtual std::size_t read(char* into, std::size_t size) = 0;

    /// Bytes taken from the file itself, packed as it is.
    virtual std::uint64_t bytes_read() const = 0;
};

/// Opens a file, or standard input; bzip2 and gzip are recognised by content, never by name. Several packed streams in a row read
/// as one. @param pool unpacks ahead; outlives the content
/// @throws DataError when the file is missing, empty, or packed in a way that is not read here
std::unique_ptr<Content> open_content(const std::filesystem::path& path, TaskPool& pool);

}  // namespace bertpretrain
