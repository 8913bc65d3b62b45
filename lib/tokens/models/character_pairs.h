#pragma once
// Byte-pair encoding of characters, as GPT, Llama and protein models have it.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/definition/tokenizer_definition.h"
#include "tokens/models/symbol_merges.h"
#include "tokens/token_table.h"

namespace bertpretrain {

/// Splits a word into tokens: its characters are merged in pairs, the pair of lowest rank first, from the left. Words that are
/// one token are found in a table first. Immutable, so thread-safe.
/// Source: models/bpe/model.rs of tokenizers.
class CharacterPairs {
public:
    /// @param tokens the model's, by id  @param where begins messages  @throws DataError if a merge names a token that is missing
    CharacterPairs(const std::vector<std::string>& tokens, const CharacterPairModel& model, const std::string& where);

    /// Appends the ids of a word of valid UTF-8, which must not be empty.
    void encode(std::string_view word, std::vector<std::int32_t>& ids) const {
        if (const std::int32_t id = whole_words_.find(word); id != TokenTable::none) ids.push_back(id);
        else split(word, ids);
    }

private:
    void add_merges(const CharacterPairModel& model, const std::string& where);
    void find_whole_words(const std::vector<std::string>& tokens, bool ignore_merges);
    void split(std::string_view word, std::vector<std::int32_t>& ids) const;
    bool append_bytes(std::string_view symbol, std::vector<std::int32_t>& ids) const;

    TokenTable tokens_;
    std::array<std::int32_t, 256> byte_ids_{};  ///< TokenTable::none for bytes without a token, and without byte_fallback
    std::int32_t unknown_ = TokenTable::none;
    bool fuse_unknown_ = false;
    std::string prefix_, suffix_;
    SymbolMerges merges_;
    TokenTable whole_words_;  ///< words that become one token
};

}  // namespace bertpretrain
