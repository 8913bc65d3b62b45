#include "tokens/models/added_tokens.h"

#include <algorithm>

#include "text/utf8.h"
#include "tokens/unicode/code_point_set.h"
#include "tokens/unicode/spaces.h"

namespace bertpretrain {
namespace {

bool is_word_character(char32_t c) {
    static const CodePointSet words = rust_word_characters();
    return words.contains(c, general_category(c));
}

bool touches_word(std::string_view text, std::size_t begin, std::size_t end) {
    if (begin > 0 && is_word_character(previous_code_point(text, begin))) return true;
    return end < text.size() && is_word_character(next_code_point(text, end));
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<std::pair<std::string, AddedToken>> tokens) : tokens_(std::move(tokens)) {
    std::erase_if(tokens_, [](const auto& token) { return token.first.empty(); });
    std::ranges::stable_sort(tokens_, {}, [](const auto& token) -> const std::string& { return token.first; });
    tokens_.erase(std::unique(tokens_.begin(), tokens_.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
                  tokens_.end());
    std::vector<std::string_view> keys;
    for (const auto& [text, token] : tokens_) {
        keys.emplace_back(text);
        const std::size_t pairs = std::size_t{static_cast<unsigned char>(text[0])} << 8;
        if (text.size() > 1) first_pairs_[pairs | static_cast<unsigned char>(text[1])] = true;
        else
            for (std::size_t second = 0; second < 256; ++second) first_pairs_[pairs | second] = true;
    }
    if (keys.empty()) return;
    trie_ = ByteTrie(keys, [](const ByteTrie::Step&) {});
    token_of_.resize(trie_.size());
    for (const auto& [text, token] : tokens_) {
        ByteTrie::State state = ByteTrie::root;
        for (const char c : text) state = trie_.child(state, static_cast<unsigned char>(c));
        token_of_[state] = &token;
    }
}

/// Looks for the longest token at `position`. @param done end of the token before it, whose white space is not taken again
bool AddedTokenFinder::find_at(std::string_view text, std::size_t position, std::size_t done, Match& match) const {
    const AddedToken* longest = nullptr;
    std::size_t end = position;
    ByteTrie::State state = ByteTrie::root;
    for (std::size_t i = position; i < text.size(); ++i) {
        state = trie_.child(state, static_cast<unsigned char>(text[i]));
        if (state == ByteTrie::none) break;
        if (token_of_[state] == nullptr) continue;
        longest = token_of_[state];
        end = i + 1;
    }
    if (longest == nullptr) return false;
    match.next = end;
    if (longest->single_word && touches_word(text, position, end)) return true;
    match.token = longest;
    match.begin = longest->lstrip ? std::max(done, without_spaces_before(text, position)) : position;
    match.end = longest->rstrip ? past_spaces(text, end) : end;
    return true;
}

}  // namespace bertpretrain
