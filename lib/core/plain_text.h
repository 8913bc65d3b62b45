#pragma once
// Refuses files that are not plain UTF-8 text, whose bytes would be read as words.

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace bertpretrain {

/// Refuses a file by its first bytes if they are of a packed file, JSON, Parquet, HDF5, a dump or UTF-16.
/// @param head at least 256 bytes, unless the file is shorter
/// @param layout of the text that is expected, for the message
/// @throws DataError naming the file, the format and what to do
void refuse_other_format(const std::filesystem::path& file, std::string_view head,
                         std::string_view layout = "one sentence per line and an empty line after each document");

/// Checks a file's bytes while they are read. Recognizes by content: compressed files, XML, JSON, Parquet, HDF5 and UTF-16; and
/// finds bytes that are not UTF-8.
class PlainTextCheck {
public:
    explicit PlainTextCheck(std::filesystem::path file) : file_(std::move(file)) {}

    /// Checks the next bytes of the file. The first call should have at least 256 bytes, unless the file is shorter.
    /// @throws DataError naming the file, the format or the byte's offset, and what to do
    void add(std::string_view bytes);
    /// @throws DataError if the file ends inside a character
    void finish();

private:
    void add_byte(unsigned char byte);
    [[noreturn]] void refuse_byte(std::uint64_t offset) const;

    std::filesystem::path file_;
    std::uint64_t offset_ = 0;                  ///< of the next byte
    std::uint64_t character_ = 0;               ///< offset of the first byte of the character that add_byte() is in
    unsigned char missing_ = 0;                 ///< bytes that this character still lacks
    unsigned char least_ = 0x80, most_ = 0xBF;  ///< the values that its next byte may have
};

}  // namespace bertpretrain
