#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace bertpretrain {

/// A file opened for reading at any place; several threads may read at once.
class InputFile {
public:
    /// @throws DataError when it cannot be opened
    explicit InputFile(std::filesystem::path file);
    ~InputFile();
    InputFile(InputFile&& other) noexcept;
    InputFile& operator=(InputFile&&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Up to `size` bytes from `offset` on, fewer only at the end. @returns how many @throws DataError
    std::size_t read_at(std::uint64_t offset, char* bytes, std::size_t size) const;

private:
    std::filesystem::path path_;
    int descriptor_;
};

}  // namespace bertpretrain
