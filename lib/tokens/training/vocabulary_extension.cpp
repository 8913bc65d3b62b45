#include "tokens/training/vocabulary_extension.h"

#include <algorithm>
#include <map>
#include <string>

#include "text/utf8.h"
#include "tokens/models/pair_merges.h"
#include "tokens/models/piece_matcher.h"

namespace bertpretrain {
namespace {

constexpr std::size_t longest_word = 100;  // of WordPiece

/// The vocabulary's tokens, and the new ones in the order in which they were found.
class GrowingTokens {
public:
    GrowingTokens(const Vocabulary& vocabulary, const VocabularyExtension& extension)
        : tokens_(vocabulary.tokens()), additions_(extension.additions) {
        for (std::int32_t id = 0; extension.reuses_unused && id < vocabulary.size(); ++id)
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

void add_characters(const Vocabulary& vocabulary, const WordCounts& counts, const VocabularyExtension& extension,
                    GrowingTokens& tokens) {
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
    std::vector<std::pair<std::string, std::int64_t>> sorted(missing.begin(), missing.end());
    std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second > b.second; });
    const auto most = static_cast<std::size_t>(extension.additions / 2);
    for (std::size_t i = 0; i < std::min(most, sorted.size()) && sorted[i].second >= extension.min_frequency; ++i)
        tokens.add(sorted[i].first);
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
    GrowingTokens tokens(vocabulary, extension);
    add_characters(vocabulary, counts, extension, tokens);
    PairMerges merges = words_as_pieces(tokens.vocabulary(), counts);
    while (!tokens.is_full()) {
        const auto best = merges.most_frequent();
        if (!best || best->count < extension.min_frequency) break;
        const std::string right = tokens.token(best->pair.right);
        merges.merge(best->pair, tokens.add(tokens.token(best->pair.left) + right.substr(continuation_prefix.size())));
    }
    return tokens.vocabulary();
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
