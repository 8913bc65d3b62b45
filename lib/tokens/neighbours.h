#pragma once
// What depends on the characters beside: the lower case of a sigma, and whether something is a word by itself.

#include <cstddef>
#include <string_view>

#include "tokens/token_rules.h"

namespace bertpretrain {

/// Whether the capital sigma at bytes [begin, end) of `text` ends its word: a cased letter before it and none behind, within
/// the same stretch between white space, marks and the like passed over. Source: the Unicode Standard, table 3-17 (Final_Sigma).
bool is_final_sigma(std::string_view text, std::size_t begin, std::size_t end, TokenRules rules);

/// Whether nothing but dropped characters lies between `position` and white space, a Chinese character or the end of the text,
/// before it or behind it.
bool word_starts_at(std::string_view text, std::size_t position, TokenRules rules);
bool word_ends_at(std::string_view text, std::size_t position, TokenRules rules);

}  // namespace bertpretrain
