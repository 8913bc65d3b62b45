#pragma once
// Finds the tokens that are recognised as they are written, such as "<mask>", before text is split into words.

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokens/definition/tokenizer_definition.h"
#include "tokens/models/byte_trie.h"

namespace bertpretrain {

/// Finds tokens from the left, the longest first. Immutable, so thread-safe.
class AddedTokenFinder {
public:
    AddedTokenFinder() = default;  ///< finds none
    /// @param tokens each with the text to look for; of equal texts the first counts
    explicit AddedTokenFinder(std::vector<std::pair<std::string, AddedToken>> tokens);

    /// Calls visit_text(part) for each part of the text between tokens that is not empty and visit_token(id) for each token, in
    /// order.
    template <class VisitText, class VisitToken>
    void split(std::string_view text, const VisitText& visit_text, const VisitToken& visit_token) const {
        std::size_t done = 0;
        for (std::size_t from = tokens_.empty() ? text.size() : 0; from < text.size();) {
            Match match;
            if (!can_begin(text, from) || !find_at(text, from, done, match)) {
                ++from;
                continue;
            }
            from = match.next;
            if (match.token == nullptr) continue;
            if (done < match.begin) visit_text(text.substr(done, match.begin - done));
            visit_token(match.token->id);
            done = match.end;
        }
        if (done < text.size()) visit_text(text.substr(done));
    }

private:
    struct Match {
        const AddedToken* token = nullptr;  ///< null: a token was found, but not as a single word
        std::size_t begin = 0, end = 0;     ///< with the white space that it takes
        std::size_t next = 0;               ///< where the search goes on
    };
    /// Returns false for most positions at which no token begins. Some files have thousands of tokens, with almost every first
    /// byte.
    bool can_begin(std::string_view text, std::size_t position) const {
        const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : std::size_t{0}; };
        return first_pairs_[byte(position) << 8 | byte(position + 1)];
    }
    bool find_at(std::string_view text, std::size_t position, std::size_t done, Match& match) const;

    std::vector<std::pair<std::string, AddedToken>> tokens_;  ///< sorted by text
    ByteTrie trie_;
    std::vector<const AddedToken*> token_of_;  ///< by state of the trie; null: no token ends there
    std::bitset<1 << 16> first_pairs_;  ///< the first two bytes of each token; of a token of one byte, with every second byte
};

}  // namespace bertpretrain
