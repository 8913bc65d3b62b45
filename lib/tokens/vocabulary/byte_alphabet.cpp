#include "tokens/vocabulary/byte_alphabet.h"

#include <array>

#include "text/utf8.h"

namespace bertpretrain {
namespace {

constexpr char32_t first_substitute = 0x100;
constexpr std::size_t substitutes = 68;

struct Alphabet {
    std::array<char32_t, 256> character{};
    std::array<unsigned char, substitutes> byte_of_substitute{};
};

constexpr Alphabet make_alphabet() {
    Alphabet alphabet;
    std::size_t substituted = 0;
    for (std::size_t byte = 0; byte < 256; ++byte) {
        const bool is_printable = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
        if (!is_printable) alphabet.byte_of_substitute[substituted] = static_cast<unsigned char>(byte);
        alphabet.character[byte] = static_cast<char32_t>(is_printable ? byte : first_substitute + substituted++);
    }
    return alphabet;
}

constexpr Alphabet byte_characters = make_alphabet();

}  // namespace

char32_t character_of_byte(unsigned char byte) { return byte_characters.character[byte]; }

std::optional<std::string> bytes_of_token(std::string_view token) {
    std::string bytes;
    for (std::size_t i = 0; i < token.size();) {
        const char32_t c = next_code_point(token, i);
        if (c < 0x100 && byte_characters.character[c] == c) bytes.push_back(static_cast<char>(c));
        else if (c >= first_substitute && c < first_substitute + substitutes)
            bytes.push_back(static_cast<char>(byte_characters.byte_of_substitute[c - first_substitute]));
        else return std::nullopt;
    }
    return bytes;
}

std::string token_of_bytes(std::string_view bytes) {
    std::string token;
    for (const char byte : bytes) append_code_point(token, character_of_byte(static_cast<unsigned char>(byte)));
    return token;
}

std::string byte_token(unsigned char byte) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    return {'<', '0', 'x', digits[byte / 16], digits[byte % 16], '>'};
}

}  // namespace bertpretrain
