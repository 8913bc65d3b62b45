#pragma once
// Refuses text that is not UTF-8, whose bytes would be read as wrong letters.

#include <cstdint>
#include <string>
#include <string_view>

namespace bertpretrain {

/// Checks a file's bytes while they are read.
class Utf8Check {
public:
    /// How users can have a text in another encoding read: by --encoding, or by converting it before.
    enum class Remedy { option, conversion };

    /// @param file its name, for messages
    explicit Utf8Check(std::string file, Remedy remedy = Remedy::option) : file_(std::move(file)), remedy_(remedy) {}

    /// Checks the next bytes of the file. @throws DataError naming the file, the byte and its offset, and what to do. The advice
    /// is another encoding only where `bytes` show one: text that is nearly all UTF-8 would be garbled by it.
    void add(std::string_view bytes);
    /// @throws DataError if the file ends inside a character
    void finish();

private:
    bool add_byte(unsigned char byte);
    [[noreturn]] void refuse(std::string_view bytes, std::uint64_t first) const;

    std::string file_;
    Remedy remedy_;
    std::uint64_t offset_ = 0;                  ///< of the next byte
    std::uint64_t character_ = 0;               ///< offset of the first byte of the character that add_byte() is in
    std::uint64_t characters_ = 0;              ///< beyond ASCII, complete ones
    unsigned char missing_ = 0;                 ///< bytes that this character still lacks
    unsigned char least_ = 0x80, most_ = 0xBF;  ///< the values that its next byte may have
};

bool is_utf8(std::string_view text);

/// What a text holds beyond ASCII.
struct BytesBeyondAscii {
    std::uint64_t characters = 0;      ///< well-formed in UTF-8
    std::uint64_t wrong = 0;           ///< bytes that are part of none
    std::uint64_t wrong_controls = 0;  ///< those of them from 0x80 to 0x9F, which are control characters in Latin-1
};
BytesBeyondAscii bytes_beyond_ascii(std::string_view text);

}  // namespace bertpretrain
