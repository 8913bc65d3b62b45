#pragma once
// Reads the files that define a tokenizer with rules of its own.

#include <optional>
#include <string>
#include <string_view>

#include "tokens/definition/tokenizer_definition.h"

namespace bertpretrain {

/// Returns what a tokenizer.json or a SentencePiece model defines; nullopt for a list of tokens.
/// Of a SentencePiece model, the tokens with a role are looked for in the text as written, as transformers does.
/// @param where the file, which begins messages
/// @throws DataError if the content is damaged, or says anything that this program would not do as the libraries do
std::optional<TokenizerDefinition> read_definition(std::string_view content, const std::string& where);

}  // namespace bertpretrain
