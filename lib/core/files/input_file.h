#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace bertpretrain {

/// A file open for reading at any offset. Thread-safe.
class InputFile {
public:
    /// @throws DataError when it cannot be opened
    explicit InputFile(std::filesystem::path file);
    ~InputFile();
    InputFile(InputFile&& other) noexcept;
    InputFile& operator=(InputFile&&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Reads `size` bytes at `offset`, fewer only at the end of the file. @returns how many @throws DataError when reading fails
    std::size_t read_at(std::uint64_t offset, char* bytes, std::size_t size) const;

private:
    std::filesystem::path path_;
    int descriptor_;
};

}  // namespace bertpretrain
