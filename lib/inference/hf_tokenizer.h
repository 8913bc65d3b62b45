#pragma once
// A tokenizer as Hugging Face's libraries read it.

#include <filesystem>

#include "tokens/vocabulary.h"
#include "tokens/words.h"

namespace bertpretrain {

/// Writes vocab.txt, tokenizer.json, tokenizer_config.json and special_tokens_map.json into a folder: with them BertTokenizer
/// gives the ids of our WordPiece.
/// @param longest what the model takes, in tokens @throws DataError
void write_hf_tokenizer(const std::filesystem::path& folder, const Vocabulary& vocabulary, Casing casing, std::int64_t longest);

}  // namespace bertpretrain
