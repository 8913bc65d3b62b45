#pragma once
// The second stage of tokenization: splits a word into pieces from a vocabulary.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/models/byte_trie.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {

/// Greedy longest-match-first tokenization in time linear in the word. Where no transition matches, a precomputed failure link
/// gives the pieces that are certain by then and the state to continue from. Immutable, so safe to use from several threads.
/// Source: Song et al. 2021, "Fast WordPiece Tokenization" (LinMaxMatch).
class PieceMatcher {
public:
    /// @param tokens the pieces by id; an empty one is no piece  @param unknown the id of [UNK]
    /// @param longest_word a word of more code points becomes [UNK]
    /// @param words_have_marks whether a word may begin with "##", which BERT's words do not; a piece matches its own text there
    PieceMatcher(const std::vector<std::string>& tokens, std::int32_t unknown, std::size_t longest_word,
                 bool words_have_marks = false);
    /// The same for all tokens of a vocabulary.
    PieceMatcher(const Vocabulary& vocabulary, std::size_t longest_word)
        : PieceMatcher(vocabulary.tokens(), vocabulary.specials().unk, longest_word) {}

    /// Appends the ids of the pieces of `word`, or [UNK] if pieces cannot cover it. `word` must be non-empty valid UTF-8.
    void match(std::string_view word, std::vector<std::int32_t>& ids) const;

private:
    /// The last node of a linked list of pieces that a failure link emits.
    struct Sure {
        std::int32_t id;
        std::int32_t before;  ///< index in sure_ of the piece to its left, or no_piece
        std::int32_t count;   ///< length of the list up to this piece
    };
    /// A state's failure link: what to do when no transition matches.
    struct Leaving {
        std::int32_t id;         ///< of the piece that ends at this state, or no_piece
        std::int32_t sure;       ///< index in sure_ of the last piece to emit, or no_piece
        ByteTrie::State resume;  ///< state reached by the bytes after those pieces, or none if the word is unknown
    };
    static constexpr std::int32_t no_piece = -1;

    void link(const ByteTrie::Step& step);
    std::int32_t joined(std::int32_t first, std::int32_t second);
    bool match_pieces(std::string_view word, std::vector<std::int32_t>& ids) const;
    bool leave(ByteTrie::State& state, std::vector<std::int32_t>& ids) const;
    void take_sure(std::int32_t last, std::vector<std::int32_t>& ids) const;

    ByteTrie trie_;
    ByteTrie::State continuation_ = ByteTrie::none;  ///< root of the pieces that continue a word, or none
    std::vector<Leaving> leaving_;
    std::vector<Sure> sure_;
    std::size_t longest_word_;
    std::int32_t unknown_;
};

}  // namespace bertpretrain
