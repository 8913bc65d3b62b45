#pragma once
// The Unigram model of SentencePiece and XLM-R.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/definition/tokenizer_definition.h"
#include "tokens/models/byte_trie.h"
#include "tokens/token_table.h"

namespace bertpretrain {

/// Divides a word into the tokens with the largest sum of scores, by the Viterbi algorithm. Among equal sums the division wins
/// whose last token begins first. A character without a token of its own scores 10 less than the lowest token. Neighbouring
/// unknown characters become one token. Immutable, so thread-safe.
/// Source: models/unigram/model.rs of tokenizers. SentencePiece adds the scores in fp32, so ties can fall otherwise.
class Unigram {
public:
    /// Memory of one call, reused by the next.
    struct Memory {
        /// The best division of the text before a position.
        struct Node {
            double score = 0.0;
            std::size_t begin = none;  ///< of its last token
            std::int32_t id = 0;       ///< of its last token
        };
        static constexpr std::size_t none = ~std::size_t{0};
        std::vector<Node> best;  ///< by position in bytes
        std::vector<std::size_t> ends;
    };

    /// @param tokens the model's, by id; distinct and not empty
    Unigram(const std::vector<std::string>& tokens, const UnigramModel& model);

    /// Appends the ids of a word of valid UTF-8, which must not be empty.
    void encode(std::string_view word, Memory& memory, std::vector<std::int32_t>& ids) const {
        if (const std::int32_t id = whole_words_.find(word); id != TokenTable::none) ids.push_back(id);
        else divide(word, memory, ids);
    }

private:
    void find_best(std::string_view word, Memory& memory) const;
    void divide(std::string_view word, Memory& memory, std::vector<std::int32_t>& ids) const;
    void append_unknown(std::string_view text, std::vector<std::int32_t>& ids) const;
    std::int32_t find(std::string_view token) const;

    std::vector<double> scores_;  ///< by id
    double unknown_score_ = 0.0;
    std::int32_t unknown_ = 0;
    ByteTrie trie_;
    std::vector<std::int32_t> id_of_;       ///< by state of the trie; TokenTable::none where no token ends
    std::vector<std::int32_t> byte_ids_{};  ///< of all bytes; empty: unknown characters are not spelled by bytes
    TokenTable whole_words_;                ///< words that become one token
};

}  // namespace bertpretrain
