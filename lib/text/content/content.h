#pragma once
// The decompressed content of a file.

#include <cstddef>
#include <cstdint>

namespace bertpretrain {

class Content {
public:
    Content() = default;
    Content(const Content&) = delete;
    Content& operator=(const Content&) = delete;
    virtual ~Content() = default;

    /// Reads up to `size` bytes of the content; returns 0 only at its end.
    /// @throws DataError naming the byte at which the file is damaged or cut short
    virtual std::size_t read(char* into, std::size_t size) = 0;

    /// Number of (compressed) bytes read from the file.
    virtual std::uint64_t bytes_read() const = 0;
};

}  // namespace bertpretrain
