#pragma once
// Bytes of a file that may be packed with bzip2 or gzip; recognised by its content, never by its name.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

namespace bertpretrain {

/// Unpacks one stream after the other; the two packers share this face.
class Unpacker {
public:
    struct Step {
        std::size_t consumed = 0;
        std::size_t produced = 0;
        bool stream_ended = false;  ///< the next call begins a new stream
        const char* fault = nullptr;
    };
    virtual ~Unpacker() = default;
    virtual Step unpack(const char* packed, std::size_t packed_size, char* plain, std::size_t plain_size) = 0;
};

/// A file read from front to back and unpacked on the way. Several packed streams in a row (as in Wikipedia's multistream
/// dumps) read as one. Memory: one buffer and the unpacker's own state.
class CompressedFile {
public:
    /// @throws DataError when the file is missing, empty, or packed in a way that is not read here
    explicit CompressedFile(const std::filesystem::path& file);

    /// The next bytes of the content, up to `size`; 0 only at its end.
    /// @throws DataError naming the byte where the file is damaged or cut short
    std::size_t read(char* into, std::size_t size);

    /// Bytes taken from the file itself, packed as it is.
    std::uint64_t bytes_read() const { return bytes_before_buffer_ + used_; }

private:
    void refill();

    std::filesystem::path file_;
    std::ifstream in_;
    std::vector<char> buffer_;
    std::size_t used_ = 0, filled_ = 0;
    std::uint64_t bytes_before_buffer_ = 0;
    std::unique_ptr<Unpacker> unpacker_;  ///< none: the file is read as it is
    bool inside_stream_ = false;
};

}  // namespace bertpretrain
