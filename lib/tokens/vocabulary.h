#pragma once
// The list of tokens that a model knows; a token's id is its place in the list.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/string_hash.h"

namespace bertpretrain {

/// Ids of the tokens that stand for no text.
struct SpecialIds {
    std::int32_t pad, unk, cls, sep, mask;
};

/// The special tokens in the order in which a trained vocabulary begins with them.
inline constexpr std::string_view special_tokens[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

/// An immutable list of distinct tokens, the five special ones among them, in BERT's notation: a token that begins with
/// "##" continues a word.
class Vocabulary {
public:
    using SpecialIds = bertpretrain::SpecialIds;

    /// Reads one token per line; the id is the line's number from 0; white space at a line's end is not part of the token.
    /// @throws DataError when the file cannot be read, is empty, names a token twice, or lacks a special token
    static Vocabulary read(const std::filesystem::path& file);

    /// @param where what messages call the list, e.g. a file's name
    /// @throws DataError when the list is empty, names a token twice, or lacks a special token
    Vocabulary(std::vector<std::string> tokens, const std::string& where);

    std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
    /// The id of `token`, if it is in the list.
    std::optional<std::int32_t> find(std::string_view token) const;
    /// @throws std::out_of_range unless 0 <= id < size()
    const std::string& token(std::int32_t id) const { return tokens_.at(static_cast<std::size_t>(id)); }
    const std::vector<std::string>& tokens() const { return tokens_; }
    const SpecialIds& specials() const { return specials_; }

    /// CRC-32 (zlib's polynomial) of all tokens, each followed by "\n": the same list gives the same number.
    std::uint32_t crc32() const;

    /// Writes the file that read() reads, whole or not at all. @throws DataError
    void write(const std::filesystem::path& file) const;

private:
    std::vector<std::string> tokens_;
    StringMap<std::int32_t> ids_;
    SpecialIds specials_{};
};

}  // namespace bertpretrain
