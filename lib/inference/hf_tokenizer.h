#pragma once
// Writes a tokenizer for Hugging Face's libraries.

#include <filesystem>
#include <string>

#include "tokens/models/words.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {

/// Writes vocab.txt, tokenizer.json, tokenizer_config.json and special_tokens_map.json into a folder. With them, BertTokenizer
/// returns the same ids as this program's WordPiece.
/// @param longest maximum length of the model's input, in tokens
/// @throws DataError when a file cannot be written
void write_hf_tokenizer(const std::filesystem::path& folder, const Vocabulary& vocabulary, Casing casing, std::int64_t longest);

/// The same for a model that has a tokenizer.json: writes it, with a post-processor that puts the special tokens around a text
/// where it has none, and the other files except vocab.txt. With them, AutoTokenizer returns the same ids as this program.
/// @param tokenizer_json the file's content
void write_hf_tokenizer(const std::filesystem::path& folder, const std::string& tokenizer_json, std::int64_t longest);

/// The same for a model that has a SentencePiece model: writes it as tokenizer.model, and the other files except vocab.txt and
/// tokenizer.json. transformers 5 runs it with the package sentencepiece, so its ids are the library's own.
void write_hf_sentence_pieces(const std::filesystem::path& folder, const std::string& model, std::int64_t longest);

}  // namespace bertpretrain
