#include "tokens/training/vocabulary_training.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "text/utf8.h"
#include "tokens/models/pair_merges.h"

namespace bertpretrain {
namespace {

constexpr char32_t code_points = 0x110000;

/// Returns the `limit` most frequent characters of the words, in ascending order. Ties go to the smaller code point.
std::u32string alphabet_of(const WordCounts& words, std::size_t limit) {
    std::vector<std::int64_t> counts(code_points);
    for (const auto& [word, count] : words)
        for (std::size_t i = 0; i < word.size();) counts[next_code_point(word, i)] += count;
    std::u32string alphabet;
    for (char32_t c = 0; c < code_points; ++c)
        if (counts[c] > 0) alphabet.push_back(c);
    std::ranges::stable_sort(alphabet, [&](char32_t a, char32_t b) { return counts[a] > counts[b]; });
    alphabet.resize(std::min(alphabet.size(), limit));
    std::ranges::sort(alphabet);
    return alphabet;
}

/// A growing list of tokens. A token's id is its index.
class TokenList {
public:
    TokenList() {
        for (const std::string_view token : special_tokens) add(std::string(token));
    }
    /// Adds the token if it is missing. Returns its id.
    std::int32_t add(const std::string& token) {
        const auto [place, is_new] = ids_.emplace(token, static_cast<std::int32_t>(tokens_.size()));
        if (is_new) tokens_.push_back(token);
        return place->second;
    }
    /// Adds the concatenation of two pieces if it is missing. Returns its id.
    std::int32_t add_joined(SymbolPair pair) {
        const std::string& left = tokens_[static_cast<std::size_t>(pair.left)];
        const std::string& right = tokens_[static_cast<std::size_t>(pair.right)];
        return add(left + (right.starts_with(continuation_prefix) ? right.substr(continuation_prefix.size()) : right));
    }
    std::size_t size() const { return tokens_.size(); }
    std::vector<std::string> take() { return std::move(tokens_); }

private:
    std::vector<std::string> tokens_;
    StringMap<std::int32_t> ids_;
};

std::string spelled(char32_t c, bool continues) {
    std::string token(continues ? continuation_prefix : "");
    append_code_point(token, c);
    return token;
}

/// Adds the alphabet to `tokens` and returns all words as sequences of characters, without those outside the alphabet.
PairMerges words_as_symbols(const WordCounts& words, const std::u32string& alphabet, TokenList& tokens) {
    constexpr std::int32_t none = -1;
    std::vector<bool> continues(code_points);
    for (const auto& [word, count] : words) {
        std::size_t i = 0;
        for (next_code_point(word, i); i < word.size();) continues[next_code_point(word, i)] = true;
    }
    std::vector<std::int32_t> first_ids(code_points, none), next_ids(code_points, none);
    for (const char32_t c : alphabet) first_ids[c] = tokens.add(spelled(c, false));
    for (const char32_t c : alphabet)
        if (continues[c]) next_ids[c] = tokens.add(spelled(c, true));
    PairMerges merges;
    std::vector<std::int32_t> symbols;
    for (const auto& [word, count] : words) {
        symbols.clear();
        for (std::size_t i = 0; i < word.size();) {
            const std::vector<std::int32_t>& ids = i == 0 ? first_ids : next_ids;
            if (const std::int32_t id = ids[next_code_point(word, i)]; id != none) symbols.push_back(id);
        }
        merges.add_word(symbols, count);
    }
    return merges;
}

}  // namespace

Vocabulary train_vocabulary(const WordCounts& counts, const VocabularyTraining& training) {
    TokenList tokens;
    PairMerges merges = words_as_symbols(counts, alphabet_of(counts, training.alphabet_limit), tokens);
    if (std::cmp_less(training.size, tokens.size()))
        throw ConfigError(concat("a vocabulary of ", training.size,
                                 " tokens is too small for this text: the special tokens and characters alone need ",
                                 tokens.size(), "; increase --size"));
    while (std::cmp_less(tokens.size(), training.size)) {
        const auto best = merges.most_frequent();
        if (!best || best->count < training.min_frequency) break;
        merges.merge(best->pair, tokens.add_joined(best->pair));
    }
    return {tokens.take(), "trained vocabulary"};
}

}  // namespace bertpretrain
