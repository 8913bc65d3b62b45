#pragma once
// A file without a name for data that does not fit into memory. It disappears however the program ends.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace bertpretrain {

/// One thread at a time may append. After flush(), any number of threads may read what was appended before it.
class TemporaryFile {
public:
    /// @param folder its file system holds the data  @throws DataError when no file can be created there
    explicit TemporaryFile(const std::filesystem::path& folder);
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    /// Appends `size` bytes and returns their offset. @throws DataError when the disk is full
    std::uint64_t append(const void* bytes, std::size_t size);
    /// Writes out the buffer of append(). @throws DataError when the disk is full
    void flush();
    /// Fills `into` with `size` bytes from `offset`. @throws DataError when reading fails
    void read_at(std::uint64_t offset, void* into, std::size_t size) const;

    /// A path by which this process can open the file again, as long as this object exists.
    std::filesystem::path path() const;

    std::uint64_t size() const { return written_ + buffer_.size(); }

private:
    std::filesystem::path folder_;
    int descriptor_ = -1;
    std::uint64_t written_ = 0;
    std::string buffer_;
};

}  // namespace bertpretrain
