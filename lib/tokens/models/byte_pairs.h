#pragma once
// Byte-level byte-pair encoding: the model of GPT-2, RoBERTa and ModernBERT.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/definition/tokenizer_definition.h"
#include "tokens/models/symbol_merges.h"
#include "tokens/token_table.h"

namespace bertpretrain {

/// Splits a word into tokens: its bytes are merged in pairs, the pair of lowest rank first, from the left. Words that are one
/// token are found in a table first. Immutable, so thread-safe.
class BytePairs {
public:
    /// @param tokens the model's, by id; @param where begins messages  @throws DataError if a merge names a token that is missing
    BytePairs(const std::vector<std::string>& tokens, const BytePairModel& model, const std::string& where);

    /// Appends the ids of a word, which must not be empty.
    void encode(std::string_view word, std::vector<std::int32_t>& ids) const {
        if (const std::int32_t id = whole_words_.find(word); id != TokenTable::none) ids.push_back(id);
        else split(word, ids);
    }

private:
    void split(std::string_view word, std::vector<std::int32_t>& ids) const;

    std::array<std::int32_t, 256> byte_ids_{};  ///< TokenTable::none for a byte that is no token
    std::int32_t unknown_ = TokenTable::none;
    bool fuse_unknown_ = false;
    SymbolMerges merges_;
    TokenTable whole_words_;  ///< words that become one token
};

}  // namespace bertpretrain
