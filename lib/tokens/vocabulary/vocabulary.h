#pragma once
// The list of a model's tokens. A token's id is its index in the list.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/definition/tokenizer_kind.h"
#include "tokens/string_hash.h"
#include "tokens/unicode/character_table.h"

namespace bertpretrain {

struct TokenizerDefinition;

/// Ids of the special tokens.
struct SpecialIds {
    static constexpr std::int32_t none = -1;  ///< a definition need not have all of them
    std::int32_t pad, unk, cls, sep, mask;
    bool operator==(const SpecialIds&) const = default;
};

/// The special tokens, in the order in which a trained vocabulary lists them first.
inline constexpr std::string_view special_tokens[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

/// How tokens begin that continue a word.
inline constexpr std::string_view continuation_prefix = "##";

/// How tokens show where words begin, or end.
struct WordMarks {
    enum class Kind {
        continuation,  ///< tokens that continue a word begin with `text`
        sign,          ///< the first token of a word begins with `text`
        space,         ///< the first token of a word begins with a byte of white space, in byte-level BPE
        ending,        ///< the last token of a word ends with `text`
        all,           ///< every token is a word
        none,          ///< they do not
    };
    Kind kind = Kind::continuation;
    std::string text{continuation_prefix};
};

/// An immutable list of distinct tokens, including the special ones, with what is known of each token.
class Vocabulary {
public:
    using SpecialIds = bertpretrain::SpecialIds;

    /// Reads one token per line, or the tokens of a tokenizer.json or a SentencePiece model. @throws DataError if the file cannot
    /// be read, or as parse()
    static Vocabulary read(const std::filesystem::path& file);

    /// Parses one token per line. The id is the line's number, counted from 0. White space at a line's end is ignored.
    /// @param where the list's name in error messages, e.g. a file
    /// @throws DataError if there is no line, a line is empty, a token repeats, or a special token is missing
    static Vocabulary parse(std::string_view content, const std::string& where);

    /// The lines of parse(), without a check for special tokens and repetitions. @throws DataError if a line is empty
    static std::vector<std::string> parse_lines(std::string_view content, const std::string& where);

    /// The tokens of a definition, added ones included. An id that no token has gets an empty token.
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
    /// Checks that there is a token for each role that training needs: pad, cls, sep and mask. @returns *this
    /// @throws ConfigError naming the roles without a token, and the names that were looked for
    const Vocabulary& require_specials() const;

    /// Whether a token continues the word of the token before it. In WordPiece such tokens begin with "##". In byte-level BPE,
    /// Unigram, SentencePiece and BPE with a sign for spaces they are all tokens that do not begin with white space or the sign.
    /// In WordLevel there are none. Where tokens mark the ends of words, every token does that follows one without such a mark,
    /// so see ends_word(), too. An added token continues no word.
    bool continues_word(std::int32_t id) const;
    /// Whether a word ends with this token, where marks_word_ends(): one with the suffix, an added one, or the unknown one.
    bool ends_word(std::int32_t id) const;
    /// @throws ConfigError if the tokens do not show where words begin or end, so that whole words cannot be masked
    void require_word_marks() const;
    /// Whether this is a byte-level vocabulary, in which a word's first token includes the space before the word.
    bool is_byte_level() const { return marks_.kind == WordMarks::Kind::space; }
    /// Returns the text that a token stands for, in UTF-8: of byte-level BPE the token's bytes, U+FFFD in place of those that are
    /// no whole character; else the token with a space in place of each sign for spaces. An added token stands for itself.
    std::string decoded(std::int32_t id) const;
    /// Whether a token's white space marks where a word begins. Otherwise "##" marks that a token continues one.
    bool marks_word_starts() const { return is_byte_level() || marks_.kind == WordMarks::Kind::sign; }
    /// Whether a token's suffix marks where a word ends, as "</w>" in a BPE of characters.
    bool marks_word_ends() const { return marks_.kind == WordMarks::Kind::ending; }
    /// Whether a word ends at a separator in any case.
    bool separator_ends_word() const { return marks_word_starts() || marks_word_ends(); }
    /// The kind of file that the tokens are from.
    TokenizerKind kind() const { return kind_; }
    /// Whether the tokenizer has a casing and rules of its own, so is no list of tokens.
    bool has_own_rules() const { return kind_ != TokenizerKind::token_list; }
    /// The casing of a tokenizer with rules of its own; nullopt for a list of tokens.
    std::optional<Casing> own_casing() const { return own_casing_; }
    /// The ids that may replace a masked token at random. Of a list of tokens they are all tokens, as in BERT's
    /// scripts, otherwise all but the special ones.
    std::vector<std::int32_t> replacements() const;

    /// Returns the CRC-32 (zlib's polynomial) of all tokens, each followed by "\n". Equals the CRC of the file that write()
    /// makes.
    std::uint32_t crc32() const;

    /// Writes a file for read(), atomically. @throws DataError if that fails
    void write(const std::filesystem::path& file) const;

private:
    std::vector<std::string> tokens_;
    StringMap<std::int32_t> ids_;
    SpecialIds specials_{};
    std::string where_;
    std::optional<Casing> own_casing_{};
    WordMarks marks_{};
    TokenizerKind kind_ = TokenizerKind::token_list;
    std::vector<std::int32_t> added_{};    ///< ids of a definition's added tokens, sorted
    std::vector<std::int32_t> special_{};  ///< ids of a definition's special tokens, sorted
};

}  // namespace bertpretrain
