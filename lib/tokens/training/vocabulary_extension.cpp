#include "tokens/training/vocabulary_extension.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "core/error.h"
#include "core/output/displayable.h"
#include "text/utf8.h"
#include "tokens/models/pair_merges.h"
#include "tokens/models/piece_matcher.h"

namespace bertpretrain {
namespace {

constexpr std::size_t longest_word = 100;  // of WordPiece

/// The vocabulary's tokens, and the new ones in the order in which they were found.
class GrowingTokens {
public:
    GrowingTokens(const Vocabulary& vocabulary, std::int32_t additions, bool reuses_unused)
        : tokens_(vocabulary.tokens()), additions_(additions) {
        for (std::int32_t id = 0; reuses_unused && id < vocabulary.size(); ++id)
            if (is_unused(vocabulary.token(id))) unused_.push_back(id);
        std::ranges::reverse(unused_);
        for (std::int32_t id = 0; id < vocabulary.size(); ++id) ids_.emplace(vocabulary.token(id), id);
    }

    bool is_full() const { return added_ >= additions_; }
    const std::string& token(std::int32_t id) const { return tokens_[static_cast<std::size_t>(id)]; }
    /// Adds the token if it is missing. Returns its id.
    std::int32_t add(const std::string& token) {
        if (const auto found = ids_.find(token); found != ids_.end()) return found->second;
        ++added_;
        auto id = static_cast<std::int32_t>(tokens_.size());
        if (unused_.empty()) tokens_.push_back(token);
        else {
            id = unused_.back();
            unused_.pop_back();
            tokens_[static_cast<std::size_t>(id)] = token;
        }
        return ids_.emplace(token, id).first->second;
    }
    /// Adds the token, and returns false if it is not new.
    bool add_new(const std::string& token) {
        const std::int32_t before = added_;
        add(token);
        return added_ > before;
    }
    Vocabulary vocabulary() const { return {tokens_, "extended vocabulary"}; }

private:
    std::vector<std::string> tokens_;
    StringMap<std::int32_t> ids_;
    std::vector<std::int32_t> unused_;  ///< the smallest last
    std::int32_t additions_, added_ = 0;
};

/// Calls `visit` with each character of a word, as a token.
template <class Visit>
void for_each_character(const std::string& word, const Visit& visit) {
    for (std::size_t i = 0; i < word.size();) {
        std::string token(i == 0 ? "" : continuation_prefix);
        append_code_point(token, next_code_point(word, i));
        visit(token);
    }
}

using CharacterCounts = std::vector<std::pair<std::string, std::int64_t>>;

/// Returns the characters that the vocabulary lacks in words that it cannot cover, as tokens, the most frequent ones first.
CharacterCounts missing_characters(const Vocabulary& vocabulary, const WordCounts& counts) {
    const PieceMatcher matcher(vocabulary, longest_word);
    std::map<std::string, std::int64_t> missing;
    std::vector<std::int32_t> pieces;
    for (const auto& [word, count] : counts) {
        pieces.clear();
        matcher.match(word, pieces);
        if (pieces.front() != vocabulary.specials().unk) continue;
        for_each_character(word, [&](const std::string& token) {
            if (!vocabulary.find(token)) missing[token] += count;
        });
    }
    CharacterCounts sorted(missing.begin(), missing.end());
    std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second > b.second; });
    return sorted;
}

PairMerges words_as_pieces(const Vocabulary& vocabulary, const WordCounts& counts) {
    const PieceMatcher matcher(vocabulary, longest_word);
    PairMerges merges;
    std::vector<std::int32_t> pieces;
    for (const auto& [word, count] : counts) {
        pieces.clear();
        matcher.match(word, pieces);
        if (pieces.front() != vocabulary.specials().unk) merges.add_word(pieces, count);
    }
    return merges;
}

/// Merges the most frequent pairs until `tokens` is full. @returns how often each pair occurred
std::vector<std::int64_t> merge_pairs(const Vocabulary& vocabulary, const WordCounts& counts, std::int64_t min_frequency,
                                      GrowingTokens& tokens) {
    std::vector<std::int64_t> found;
    PairMerges merges = words_as_pieces(vocabulary, counts);
    while (!tokens.is_full()) {
        const auto best = merges.most_frequent();
        if (!best || best->count < min_frequency) break;
        const std::string right = tokens.token(best->pair.right);
        merges.merge(best->pair, tokens.add(tokens.token(best->pair.left) + right.substr(continuation_prefix.size())));
        found.push_back(best->count);
    }
    return found;
}

/// Returns how many characters are among the most frequent characters and pairs, of which there is room for `additions`.
/// @param pairs how often the pairs occur that would be merged without new characters
std::size_t characters_worth_adding(const CharacterCounts& characters, const std::vector<std::int64_t>& pairs,
                                    const VocabularyExtension& extension) {
    const auto room = static_cast<std::size_t>(extension.additions);
    std::size_t taken = 0;
    for (std::size_t p = 0; taken < std::min(room / 2, characters.size()) && taken + p < room;) {
        const std::int64_t count = characters[taken].second;
        if (count < extension.min_frequency) break;
        if (p < pairs.size() && pairs[p] >= count) ++p;
        else ++taken;
    }
    return taken;
}

bool is_character(std::string_view token) {
    if (token.starts_with(continuation_prefix) && token.size() > continuation_prefix.size())
        token.remove_prefix(continuation_prefix.size());
    std::size_t end = 0;
    next_code_point(token, end);
    return end == token.size();
}

/// Returns the length of the longest piece at the start of `rest`; 0: none. @param prefix of the pieces: "" or "##"
std::size_t longest_piece(const Vocabulary& vocabulary, std::string_view prefix, std::string_view rest, std::int32_t& id) {
    for (std::size_t length = rest.size(); length > 0; --length)
        if (const auto found = vocabulary.find(std::string(prefix) + std::string(rest.substr(0, length)))) {
            id = *found;
            return length;
        }
    return 0;
}

}  // namespace

bool is_unused(std::string_view token) {
    constexpr std::string_view begin = "[unused";
    if (!token.starts_with(begin) || !token.ends_with(']')) return false;
    token = token.substr(begin.size(), token.size() - begin.size() - 1);
    return !token.empty() && std::ranges::all_of(token, [](char c) { return c >= '0' && c <= '9'; });
}

Vocabulary extend_vocabulary(const Vocabulary& vocabulary, const WordCounts& counts, const VocabularyExtension& extension) {
    const CharacterCounts characters = missing_characters(vocabulary, counts);
    GrowingTokens without(vocabulary, extension.additions, extension.reuses_unused);
    const std::vector<std::int64_t> pairs = merge_pairs(vocabulary, counts, extension.min_frequency, without);
    if (characters.empty()) return without.vocabulary();
    GrowingTokens tokens(vocabulary, extension.additions, extension.reuses_unused);
    for (std::size_t i = 0; i < characters_worth_adding(characters, pairs, extension); ++i) tokens.add(characters[i].first);
    merge_pairs(tokens.vocabulary(), counts, extension.min_frequency, tokens);
    return tokens.vocabulary();
}

Vocabulary extend_vocabulary(const Vocabulary& vocabulary, const std::vector<std::string>& tokens, bool reuses_unused) {
    GrowingTokens extended(vocabulary, std::numeric_limits<std::int32_t>::max(), reuses_unused);
    for (std::size_t i = 0; i < tokens.size(); ++i)
        if (!extended.add_new(tokens[i]))
            throw DataError(concat("\"", displayable(tokens[i]), "\": is in the vocabulary already, or is given twice"));
    return extended.vocabulary();
}

ExtensionSummary summary_of(const Vocabulary& vocabulary, const Vocabulary& extended, const WordCounts& counts) {
    ExtensionSummary summary;
    StringMap<bool> words;
    std::int64_t total = 0;
    for (const auto& [word, count] : counts) {
        words.emplace(word, true);
        total += count;
    }
    const std::optional<std::vector<std::int32_t>> added = new_tokens(vocabulary, extended);
    for (const std::int32_t id : added.value_or(std::vector<std::int32_t>())) {
        const std::string& token = extended.token(id);
        if (is_character(token)) ++summary.characters;
        else ++(words.find(token) != words.end() ? summary.words : summary.pieces);
    }
    std::vector<bool> used;  // of the last measured vocabulary, by id
    const auto measure = [&](const Vocabulary& by, double& tokens_per_word, double& unknown_share) {
        used.assign(static_cast<std::size_t>(by.size()), false);
        const PieceMatcher matcher(by, longest_word);
        std::vector<std::int32_t> pieces;
        std::int64_t tokens = 0, unknown = 0;
        for (const auto& [word, count] : counts) {
            pieces.clear();
            matcher.match(word, pieces);
            tokens += count * std::ssize(pieces);
            for (const std::int32_t piece : pieces) used[static_cast<std::size_t>(piece)] = true;
            if (pieces.front() == by.specials().unk) unknown += count;
        }
        tokens_per_word = static_cast<double>(tokens) / static_cast<double>(total);
        unknown_share = static_cast<double>(unknown) / static_cast<double>(total);
    };
    measure(vocabulary, summary.tokens_per_word_before, summary.unknown_before);
    measure(extended, summary.tokens_per_word_after, summary.unknown_after);
    for (const std::int32_t id : added.value_or(std::vector<std::int32_t>()))
        if (!used[static_cast<std::size_t>(id)]) ++summary.unused;
    return summary;
}

std::optional<std::vector<std::int32_t>> new_tokens(const Vocabulary& vocabulary, const Vocabulary& extended) {
    if (extended.size() < vocabulary.size()) return std::nullopt;
    std::vector<std::int32_t> ids;
    for (std::int32_t id = 0; id < extended.size(); ++id) {
        if (id < vocabulary.size() && vocabulary.token(id) == extended.token(id)) continue;
        if (id < vocabulary.size() && !is_unused(vocabulary.token(id))) return std::nullopt;
        ids.push_back(id);
    }
    return ids;
}

std::vector<std::int32_t> pieces_of(const Vocabulary& vocabulary, std::string_view token) {
    std::vector<std::int32_t> pieces;
    std::string_view prefix = token.starts_with(continuation_prefix) ? continuation_prefix : "";
    token.remove_prefix(prefix.size());
    while (!token.empty()) {
        std::int32_t id = 0;
        const std::size_t length = longest_piece(vocabulary, prefix, token, id);
        if (length == 0) return {};
        pieces.push_back(id);
        token.remove_prefix(length);
        prefix = continuation_prefix;
    }
    return pieces;
}

}  // namespace bertpretrain
