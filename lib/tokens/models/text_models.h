#pragma once
// The kinds of models that a definition can have, as they are applied to text between added tokens.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tokens/models/byte_pairs.h"
#include "tokens/models/character_pairs.h"
#include "tokens/models/piece_matcher.h"
#include "tokens/models/text_normalizer.h"
#include "tokens/models/unigram.h"
#include "tokens/models/word_splitter.h"
#include "tokens/models/words.h"
#include "tokens/token_table.h"

namespace bertpretrain {

/// Memory of one call of encode().
struct EncodingMemory {
    std::string valid, normalized;
    WordSplitter::Memory splitter;
    Unigram::Memory unigram;
    bool is_first = true;  ///< whether the part of the text that is encoded is its begin
};

/// WordPiece with BERT's normalizer and pre-tokenizer. They work on the text together, unless added tokens are looked for
/// between them.
struct BertWords {
    /// @param tokens the model's, so that no added token is a piece of a word
    /// @param normalizes_first whether added tokens are looked for in the normalized text
    BertWords(const WordPieceModel& model, const std::vector<std::string>& tokens, std::int32_t unknown, bool normalizes_first)
        : casing(model.casing),
          splits_ideographs(model.splits_ideographs),
          normalizes(normalizes_first),
          matcher(tokens, unknown, model.longest_word) {}

    Casing casing;
    bool splits_ideographs, normalizes;
    PieceMatcher matcher;

    std::string_view normalized(std::string_view text, std::string& memory) const {
        if (!normalizes) return text;
        return memory = WordReader(casing, TokenRules::huggingface, splits_ideographs).normalized(text);
    }
    void encode(std::string_view text, EncodingMemory&, std::vector<std::int32_t>& ids) const {
        WordReader words(normalizes ? Casing::cased : casing, TokenRules::huggingface, splits_ideographs);
        words.start(text);
        for (std::string_view word = words.next(); !word.empty(); word = words.next()) matcher.match(word, ids);
    }
};

/// The steps of a tokenizer.json before its model.
struct TextSteps {
    template <class Model>
    TextSteps(const Model& model, const std::string& where)
        : normalizer(model.normalizations, where),
          splitter(model.splits, where),
          prepends(std::ranges::any_of(model.normalizations,
                                       [](const Normalization& step) { return std::holds_alternative<PrependedText>(step); })) {}

    TextNormalizer normalizer;
    WordSplitter splitter;
    bool prepends;  ///< whether the normalizer puts a text before each text

    std::string_view normalized(std::string_view text, std::string& memory) const { return normalizer.apply(text, memory); }
};

struct ByteLevelWords : TextSteps {
    ByteLevelWords(const BytePairModel& model, const std::vector<std::string>& tokens, const std::string& where)
        : TextSteps(model, where), pairs(tokens, model, where) {}

    BytePairs pairs;

    void encode(std::string_view text, EncodingMemory& memory, std::vector<std::int32_t>& ids) const {
        splitter.split(text, memory.is_first, memory.splitter, [&](std::string_view word) { pairs.encode(word, ids); });
    }
};

struct CharacterWords : TextSteps {
    CharacterWords(const CharacterPairModel& model, const std::vector<std::string>& tokens, const std::string& where)
        : TextSteps(model, where), pairs(tokens, model, where) {}

    CharacterPairs pairs;

    void encode(std::string_view text, EncodingMemory& memory, std::vector<std::int32_t>& ids) const {
        splitter.split(text, memory.is_first, memory.splitter, [&](std::string_view word) { pairs.encode(word, ids); });
    }
};

struct SplitPieces : TextSteps {
    /// @param unknown the id of the token for words without pieces
    SplitPieces(const SplitPieceModel& model, const std::vector<std::string>& tokens, std::int32_t unknown,
                const std::string& where)
        : TextSteps(model, where), matcher(tokens, unknown, model.longest_word, /*words_have_marks=*/true) {}

    PieceMatcher matcher;

    void encode(std::string_view text, EncodingMemory& memory, std::vector<std::int32_t>& ids) const {
        splitter.split(text, memory.is_first, memory.splitter, [&](std::string_view word) { matcher.match(word, ids); });
    }
};

struct WordIds : TextSteps {
    WordIds(const WordLevelModel& model, const std::vector<std::string>& tokens, const std::string& where)
        : TextSteps(model, where) {
        for (std::size_t id = 0; id < tokens.size(); ++id)
            if (!tokens[id].empty()) words.add(tokens[id], static_cast<std::int32_t>(id));
        unknown = words.find(model.unknown);
    }

    TokenTable words;
    std::int32_t unknown;

    void encode(std::string_view text, EncodingMemory& memory, std::vector<std::int32_t>& ids) const {
        splitter.split(text, memory.is_first, memory.splitter, [&](std::string_view word) {
            const std::int32_t id = words.find(word);
            ids.push_back(id == TokenTable::none ? unknown : id);
        });
    }
};

struct UnigramWords : TextSteps {
    UnigramWords(const UnigramModel& model, const std::vector<std::string>& tokens, const std::string& where)
        : TextSteps(model, where), unigram(tokens, model) {}

    Unigram unigram;

    void encode(std::string_view text, EncodingMemory& memory, std::vector<std::int32_t>& ids) const {
        splitter.split(text, memory.is_first, memory.splitter,
                       [&](std::string_view word) { unigram.encode(word, memory.unigram, ids); });
    }
};

/// SentencePiece, which normalizes and splits by itself.
struct PieceWords {
    std::shared_ptr<const SentencePieces> pieces;

    std::string_view normalized(std::string_view text, std::string&) const { return text; }
    void encode(std::string_view text, EncodingMemory&, std::vector<std::int32_t>& ids) const { pieces->encode(text, ids); }
};

using TextModel = std::variant<BertWords, SplitPieces, WordIds, ByteLevelWords, CharacterWords, UnigramWords, PieceWords>;

}  // namespace bertpretrain
