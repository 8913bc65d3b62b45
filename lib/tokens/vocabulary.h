#pragma once
// The list of a model's tokens. A token's id is its index in the list.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/string_hash.h"

namespace bertpretrain {

struct TokenizerDefinition;

/// Ids of the special tokens.
struct SpecialIds {
    static constexpr std::int32_t none = -1;  ///< a tokenizer.json need not have all of them
    std::int32_t pad, unk, cls, sep, mask;
};

/// The special tokens, in the order in which a trained vocabulary lists them first.
inline constexpr std::string_view special_tokens[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

/// How tokens begin that continue a word.
inline constexpr std::string_view continuation_prefix = "##";

/// An immutable list of distinct tokens, including the special ones. As in BERT, a token that begins with "##" continues a word.
class Vocabulary {
public:
    using SpecialIds = bertpretrain::SpecialIds;

    /// Reads one token per line. @throws DataError if the file cannot be read or is a tokenizer.json, or as parse() does
    static Vocabulary read(const std::filesystem::path& file);

    /// Parses one token per line. The id is the line's number, counted from 0. White space at a line's end is ignored.
    /// @param where the list's name in error messages, e.g. a file
    /// @throws DataError if there is no line, a line is empty, a token repeats, or a special token is missing
    static Vocabulary parse(std::string_view content, const std::string& where);

    /// The tokens of a tokenizer.json, added ones included. An id that no token has gets an empty token.
    /// @throws DataError if a role names a token that is missing
    Vocabulary(const TokenizerDefinition& definition, const std::string& where);

    /// @param where the list's name in error messages, e.g. a file
    /// @throws DataError if the list is empty, a token repeats, or a special token is missing
    Vocabulary(std::vector<std::string> tokens, const std::string& where);

    std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
    /// Returns the id of `token`, or nullopt if it is not in the list.
    std::optional<std::int32_t> find(std::string_view token) const;
    /// @throws std::out_of_range unless 0 <= id < size()
    const std::string& token(std::int32_t id) const { return tokens_.at(static_cast<std::size_t>(id)); }
    const std::vector<std::string>& tokens() const { return tokens_; }
    const SpecialIds& specials() const { return specials_; }

    /// Returns the CRC-32 (zlib's polynomial) of all tokens, each followed by "\n". Equals the CRC of the file that write()
    /// makes.
    std::uint32_t crc32() const;

    /// Writes a file for read(), atomically. @throws DataError if that fails
    void write(const std::filesystem::path& file) const;

private:
    std::vector<std::string> tokens_;
    StringMap<std::int32_t> ids_;
    SpecialIds specials_{};
};

}  // namespace bertpretrain
