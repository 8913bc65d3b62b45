#pragma once
// The two kinds of models that a tokenizer.json can describe, as they are applied to text between added tokens.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tokens/byte_pairs.h"
#include "tokens/piece_matcher.h"
#include "tokens/text_normalizer.h"
#include "tokens/word_splitter.h"
#include "tokens/words.h"

namespace bertpretrain {

/// Memory of one call of encode().
struct EncodingMemory {
    std::string valid, normalized;
    WordSplitter::Memory splitter;
};

/// WordPiece with BERT's normalizer and pre-tokenizer, which work on the text together.
struct BertWords {
    BertWords(const WordPieceModel& model, const Vocabulary& vocabulary)
        : casing(model.casing), matcher(vocabulary, model.longest_word) {}

    Casing casing;
    PieceMatcher matcher;

    std::string_view normalized(std::string_view text, std::string&) const { return text; }
    void encode(std::string_view text, EncodingMemory&, std::vector<std::int32_t>& ids) const {
        WordReader words(casing, TokenRules::huggingface);
        words.start(text);
        for (std::string_view word = words.next(); !word.empty(); word = words.next()) matcher.match(word, ids);
    }
};

struct ByteLevelWords {
    ByteLevelWords(const BytePairModel& model, const std::vector<std::string>& tokens, const std::string& where)
        : normalizer(model.normalizations), splitter(model.splits, where), pairs(tokens, model, where) {}

    TextNormalizer normalizer;
    WordSplitter splitter;
    BytePairs pairs;

    std::string_view normalized(std::string_view text, std::string& memory) const { return normalizer.apply(text, memory); }
    void encode(std::string_view text, EncodingMemory& memory, std::vector<std::int32_t>& ids) const {
        splitter.split(text, memory.splitter, [&](std::string_view word) { pairs.encode(word, ids); });
    }
};

using TextModel = std::variant<BertWords, ByteLevelWords>;

}  // namespace bertpretrain
