#pragma once
// Reads the regular expressions by which published tokenizers split text into words.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/unicode/code_point_set.h"

namespace bertpretrain {

struct PatternTerm;
/// Terms that follow one another.
using PatternSequence = std::vector<PatternTerm>;
/// The first alternative that matches wins.
using PatternAlternatives = std::vector<PatternSequence>;

/// A part of a regular expression that matches characters of a set, a group, or a group ahead of the position.
struct PatternTerm {
    enum class Kind { set, group, ahead, not_ahead };
    static constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

    Kind kind = Kind::set;
    CodePointSet set{};            ///< of Kind::set
    PatternAlternatives inside{};  ///< of all other kinds
    std::uint32_t least = 1, most = 1;
    bool is_possessive = false;  ///< never gives back what it has matched
};

/// Supports what published tokenizers use of oniguruma's syntax: literals, sets, \p{..}, \s, \d, \w, groups, (?i:...) of ASCII,
/// greedy and possessive quantifiers, and lookahead.
/// @param where begins messages
/// @throws DataError for everything else, and for an expression that matches an empty text
PatternAlternatives parse_split_pattern(std::string_view expression, const std::string& where);

}  // namespace bertpretrain
