#pragma once
// A file that many threads read at any offset, and an identity that shows whether it was replaced or modified.

#include <compare>
#include <cstdint>
#include <filesystem>
#include <span>

namespace bertpretrain {

/// Changes when a file is replaced or written to. Device and inode may also change when the file system is mounted again.
struct FileIdentity {
    std::uint64_t device = 0, inode = 0, bytes = 0;
    std::int64_t modified_seconds = 0, modified_nanoseconds = 0;

    auto operator<=>(const FileIdentity&) const = default;
};

class RandomAccessFile {
public:
    /// @throws DataError when it cannot be read
    explicit RandomAccessFile(const std::filesystem::path& file);
    ~RandomAccessFile();
    RandomAccessFile(const RandomAccessFile&) = delete;
    RandomAccessFile& operator=(const RandomAccessFile&) = delete;

    const FileIdentity& identity() const { return identity_; }
    /// Fills `to` with the bytes at `offset`. Thread-safe. @throws DataError when reading fails or the file ends too early
    void read_at(std::uint64_t offset, std::span<unsigned char> to) const;
    /// Returns the CRC-32 (zlib's polynomial) of the first identity().bytes bytes. @throws DataError as read_at()
    std::uint32_t crc32() const;

private:
    std::filesystem::path file_;
    int handle_ = -1;
    FileIdentity identity_;
};

}  // namespace bertpretrain
