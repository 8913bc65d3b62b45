#pragma once
// The content of a tokenizer.json or a SentencePiece model. read_definition.h reads it, pipeline_tokenizer.h runs it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tokens/definition/precompiled_map.h"
#include "tokens/definition/sentence_pieces.h"
#include "tokens/definition/tokenizer_kind.h"
#include "tokens/unicode/character_table.h"
#include "tokens/unicode/unicode_forms.h"

namespace bertpretrain {

/// A token that is found in the text before the text is split into words, such as "<mask>".
struct AddedToken {
    std::int32_t id = 0;
    std::string content;
    bool single_word = false;  ///< only where no word character touches it
    bool lstrip = false;       ///< takes the white space before it
    bool rstrip = false;       ///< takes the white space after it
    bool normalized = true;    ///< is looked for in the normalized text, otherwise in the text as written
    bool special = false;
};

struct LowerCase {};
/// Removes marks, which are accents if the text is decomposed.
struct StrippedMarks {};
/// Replaces every occurrence of a fixed text.
struct ReplacedText {
    std::string text, replacement;
};
/// Puts a text before a text that is not empty.
struct PrependedText {
    std::string text;
};
/// Replaces every match of a regular expression.
struct ReplacedMatches {
    std::string pattern, replacement;
};
/// Removes white space from a text's ends.
struct StrippedEnds {
    bool left = true, right = true;
};
/// Cleans text as BertNormalizer does: drops control characters and makes white space spaces.
struct BertNormalization {
    Casing casing = Casing::uncased;
    bool splits_ideographs = true;  ///< puts spaces around each Chinese character
};
using Normalization = std::variant<UnicodeForm, LowerCase, StrippedMarks, ReplacedText, PrependedText, ReplacedMatches,
                                   StrippedEnds, BertNormalization, std::shared_ptr<const PrecompiledMap>>;

/// How a regular expression splits text.
enum class SplitBehavior { isolated, removed, contiguous, merged_with_previous, merged_with_next };

/// SentencePiece's way: spells each space as a sign, and puts one before a text. Words begin at the signs.
struct Metaspace {
    enum class Prepend { always, first, never };  ///< `first`: only where the whole text begins
    std::string replacement;                      ///< the sign, one character
    Prepend prepend = Prepend::always;
    bool splits = true;
};

/// Splits text into words; a step of several splits the words of the step before it.
struct SplitStep {
    bool add_prefix_space = false;  ///< first puts a space before a word that does not start with one
    std::string pattern{};          ///< a regular expression; empty: does not split
    SplitBehavior behavior = SplitBehavior::isolated;
    bool inverted = false;                 ///< the roles of matches and of the text between them are exchanged
    std::optional<Metaspace> metaspace{};  ///< in place of all others
};

/// BERT's way: cleans the text, splits it at white space and punctuation, and cuts each word into the longest pieces.
struct WordPieceModel {
    Casing casing = Casing::uncased;
    std::string unknown = "[UNK]";
    std::size_t longest_word = 100;  ///< a word of more characters is unknown
    bool splits_ideographs = true;   ///< a Chinese character is a word by itself
};

/// WordPiece with other steps than BERT's: cuts each word into the longest pieces.
struct SplitPieceModel {
    std::vector<Normalization> normalizations;
    std::vector<SplitStep> splits;
    std::string unknown = "[UNK]";
    std::size_t longest_word = 100;  ///< a word of more characters is unknown
};

/// Every word is a token, or unknown.
struct WordLevelModel {
    std::vector<Normalization> normalizations;
    std::vector<SplitStep> splits;
    std::string unknown;
};

/// Byte-level BPE: spells words as bytes and merges pairs of neighbours, the pair of lowest rank first.
struct BytePairModel {
    std::vector<Normalization> normalizations;
    std::vector<SplitStep> splits;
    std::vector<std::pair<std::string, std::string>> merges;  ///< in order of rank
    std::optional<std::string> unknown;                       ///< the token of bytes that are not in the vocabulary
    bool fuse_unknown = false;                                ///< neighbouring unknown bytes become one token
    bool ignore_merges = false;                               ///< a word that is a token is not split
};

/// BPE of characters: merges pairs of neighbours, the pair of lowest rank first.
struct CharacterPairModel {
    std::vector<Normalization> normalizations;
    std::vector<SplitStep> splits;
    std::vector<std::pair<std::string, std::string>> merges;  ///< in order of rank
    std::optional<std::string> unknown;                       ///< the token of characters that have none; nullopt: they disappear
    bool fuse_unknown = false;                                ///< neighbouring unknown characters become one token
    bool ignore_merges = false;                               ///< a word that is a token is not split
    bool byte_fallback = false;  ///< unknown characters are spelled by the tokens of their bytes, such as "<0xE2>"
    std::string prefix;          ///< with which the tokens begin that continue a word
    std::string suffix;          ///< with which the tokens end that end a word
};

/// The model of SentencePiece and XLM-R: divides each word into the tokens whose scores have the largest sum.
struct UnigramModel {
    std::vector<Normalization> normalizations;
    std::vector<SplitStep> splits;
    std::vector<double> scores;  ///< logarithms of probabilities, by id
    std::int32_t unknown = 0;    ///< id of the token for characters that no token begins with
    bool byte_fallback = false;  ///< unknown characters are spelled by the tokens of their bytes, such as "<0xE2>"
};

/// How SentencePiece spells a space.
inline constexpr std::string_view sentence_piece_space = "\xE2\x96\x81";

/// SentencePiece: normalizes and splits text by the library.
struct SentencePieceModel {
    std::shared_ptr<const SentencePieces> pieces;
};

/// Names of the tokens with a role; empty where the definition has none.
struct TokenRoles {
    std::string pad, unk, cls, sep, mask;
    bool are_added = false;         ///< the post-processor puts cls and sep around a text
    bool others_are_added = false;  ///< it also puts other tokens there, or gives tokens of one text another segment than 0
};

struct TokenizerDefinition {
    std::vector<std::string> tokens;  ///< of the model, by id; empty for an id that no token has
    std::vector<AddedToken> added_tokens;
    std::variant<WordPieceModel, SplitPieceModel, WordLevelModel, BytePairModel, CharacterPairModel, UnigramModel,
                 SentencePieceModel>
        model;
    TokenRoles roles;

    TokenizerKind kind() const {
        return std::holds_alternative<SentencePieceModel>(model) ? TokenizerKind::sentence_piece : TokenizerKind::tokenizer_json;
    }
};

}  // namespace bertpretrain
