#pragma once
// The second half of tokenization: a word cut into the pieces of a vocabulary.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tokens/byte_trie.h"
#include "tokens/vocabulary.h"

namespace bertpretrain {

/// Takes the longest piece that the vocabulary has, from the left, again and again, in time linear in the word: where a path
/// through the trie ends, a link worked out beforehand tells which pieces are sure by then and where to go on.
/// Source: Song et al. 2021, "Fast WordPiece Tokenization" (LinMaxMatch).
class PieceMatcher {
public:
    /// @param longest_word a word of more code points is unknown as a whole
    PieceMatcher(const Vocabulary& vocabulary, std::size_t longest_word);

    /// Appends the ids of the pieces of `word`, valid UTF-8 and not empty; or [UNK] when they do not cover it.
    void match(std::string_view word, std::vector<std::int32_t>& ids) const;

private:
    /// A piece at the end of those that are sure when a state is left.
    struct Sure {
        std::int32_t id;
        std::int32_t before;  ///< the one to its left, or no_piece
        std::int32_t count;   ///< of itself and all before it
    };
    struct Leaving {
        std::int32_t id;         ///< of the piece that ends at this state, or no_piece
        std::int32_t sure;       ///< last of the pieces that are sure once no longer one can follow
        ByteTrie::State resume;  ///< the state that what is left has led to, or none: the word is unknown
    };
    static constexpr std::int32_t no_piece = -1;

    void link(const ByteTrie::Step& step);
    std::int32_t joined(std::int32_t first, std::int32_t second);
    bool match_pieces(std::string_view word, std::vector<std::int32_t>& ids) const;
    bool leave(ByteTrie::State& state, std::vector<std::int32_t>& ids) const;
    void take_sure(std::int32_t last, std::vector<std::int32_t>& ids) const;

    ByteTrie trie_;
    ByteTrie::State continuation_ = ByteTrie::none;  ///< where pieces that continue a word begin
    std::vector<Leaving> leaving_;
    std::vector<Sure> sure_;
    std::size_t longest_word_;
    std::int32_t unknown_;
};

}  // namespace bertpretrain
