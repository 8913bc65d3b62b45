#pragma once
// Reads Hugging Face's tokenizer.json.

#include <string>
#include <string_view>

#include "tokens/definition/tokenizer_definition.h"

namespace bertpretrain {

/// Reads a tokenizer.json: WordPiece, WordLevel, BPE of bytes or characters, or Unigram. Truncation and padding have no effect,
/// because they are applied after tokenization. The post-processor only gives the roles of tokens.
/// @param where the file, which begins messages
/// @throws DataError for anything that this program would not do as the tokenizers library does
TokenizerDefinition read_tokenizer_json(std::string_view content, const std::string& where);

}  // namespace bertpretrain
