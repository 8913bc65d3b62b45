#pragma once
// Whether two tokenizers with the same tokens read text in the same way.

#include <optional>
#include <string>

#include "tokens/models/tokenizer.h"

namespace bertpretrain {

/// Encodes the tokens as texts, and texts with capitals, accents, ideographs and signs. Returns the first text whose ids differ;
/// nullopt if there is none, as for tokenizers of equal normalizers and rules. Special tokens inside a text are not compared.
std::optional<std::string> text_read_differently(const Tokenizer& a, const Tokenizer& b);

}  // namespace bertpretrain
