#pragma once
// Rules that look at neighbouring characters: the lower case of a capital sigma, and where words start and end.

#include <cstddef>
#include <string_view>

#include "tokens/token_rules.h"

namespace bertpretrain {

/// Returns whether the capital sigma at bytes [begin, end) of `text` is final: a cased letter precedes it and none follows,
/// up to the next white space or Chinese character. Case-ignorable and dropped characters are skipped.
/// Source: the Unicode Standard, table 3-17 (Final_Sigma).
bool is_final_sigma(std::string_view text, std::size_t begin, std::size_t end, TokenRules rules);

/// Return whether only dropped characters lie between byte `position` and the nearest white space, Chinese character or end of
/// the text: to its left (word_starts_at) or to its right (word_ends_at).
bool word_starts_at(std::string_view text, std::size_t position, TokenRules rules);
bool word_ends_at(std::string_view text, std::size_t position, TokenRules rules);

}  // namespace bertpretrain
