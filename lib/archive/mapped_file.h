#pragma once
// Memory-mapped files.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace bertpretrain {

/// A read-only mapping of a whole regular file; a copy in memory where the file system cannot map files.
class MappedFile {
public:
    /// @throws CheckpointError naming the file and the system's reason
    explicit MappedFile(std::filesystem::path file);
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    const std::filesystem::path& file() const { return file_; }
    std::span<const std::byte> bytes() const { return bytes_; }
    /// Returns the first bytes, fewer than `most` only if the file is shorter.
    std::string_view head(std::size_t most) const {
        return std::string_view(reinterpret_cast<const char*>(bytes_.data()), bytes_.size()).substr(0, most);
    }

private:
    std::filesystem::path file_;
    std::span<const std::byte> bytes_;
};

}  // namespace bertpretrain
