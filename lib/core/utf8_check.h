#pragma once
// Refuses text that is not UTF-8, whose bytes would be read as wrong letters.

#include <cstdint>
#include <string>
#include <string_view>

namespace bertpretrain {

/// Checks a file's bytes while they are read.
class Utf8Check {
public:
    /// @param file its name, for messages
    explicit Utf8Check(std::string file) : file_(std::move(file)) {}

    /// Checks the next bytes of the file. @throws DataError naming the file, the byte's offset, and what to do
    void add(std::string_view bytes);
    /// @throws DataError if the file ends inside a character
    void finish();

private:
    void add_byte(unsigned char byte);
    [[noreturn]] void refuse_byte(std::uint64_t offset) const;

    std::string file_;
    std::uint64_t offset_ = 0;                  ///< of the next byte
    std::uint64_t character_ = 0;               ///< offset of the first byte of the character that add_byte() is in
    unsigned char missing_ = 0;                 ///< bytes that this character still lacks
    unsigned char least_ = 0x80, most_ = 0xBF;  ///< the values that its next byte may have
};

bool is_utf8(std::string_view text);

}  // namespace bertpretrain
