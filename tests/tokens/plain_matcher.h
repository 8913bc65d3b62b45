#pragma once
// Greedy longest-match-first tokenization by a plain loop: the reference that PieceMatcher must equal.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/utf8.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain::testing {

/// @param word valid UTF-8, not empty
inline std::vector<std::int32_t> plain_match(const Vocabulary& vocabulary, std::size_t longest_word, std::string_view word) {
    const std::u32string characters = code_points_of(word);
    const std::vector<std::int32_t> unknown{vocabulary.specials().unk};
    if (characters.size() > longest_word) return unknown;
    std::vector<std::int32_t> ids;
    for (std::size_t begin = 0; begin < characters.size();) {
        std::size_t size = characters.size() - begin;
        for (; size > 0; --size) {
            const auto id = vocabulary.find((begin == 0 ? "" : "##") + utf8_text(characters.substr(begin, size)));
            if (!id) continue;
            ids.push_back(*id);
            break;
        }
        if (size == 0) return unknown;
        begin += size;
    }
    return ids;
}

}  // namespace bertpretrain::testing
