#pragma once
// How the tokens of bytes are spelled.

#include <optional>
#include <string>
#include <string_view>

namespace bertpretrain {

/// Returns the character that stands for a byte: printable characters of Latin-1 stand for themselves, all other bytes for the
/// characters from U+0100 on, in order. A space is "\u0120". Source: bytes_to_unicode of openai/gpt-2.
char32_t character_of_byte(unsigned char byte);

/// Returns the bytes that a token stands for, or nullopt if it has other characters.
std::optional<std::string> bytes_of_token(std::string_view token);

/// Returns the token that stands for `bytes`.
std::string token_of_bytes(std::string_view bytes);

/// Returns how SentencePiece names the token of a byte, e.g. "<0x0A>".
std::string byte_token(unsigned char byte);

}  // namespace bertpretrain
