#pragma once
// Opens a tokenizer from a file, which its content describes.

#include <filesystem>
#include <memory>
#include <optional>

#include "tokens/models/tokenizer.h"
#include "tokens/token_rules.h"
#include "tokens/unicode/character_table.h"

namespace bertpretrain {

/// Returns the tokenizer of a tokenizer.json or a SentencePiece model, or BERT's WordPiece for a vocabulary file with one token
/// per line.
/// @param cased asks for a cased vocabulary file; otherwise its tokens decide (see vocabulary_casing.h)
/// @param rules of a vocabulary file, by default Hugging Face's. The other kinds have their own casing and rules.
/// @throws DataError if the file cannot be read, is damaged or describes a tokenizer that is not supported
/// @throws ConfigError if `cased` contradicts the vocabulary, or if `cased` or rules are given for another kind of file
std::shared_ptr<const Tokenizer> open_tokenizer(const std::filesystem::path& file, bool cased, std::optional<TokenRules> rules);

/// The same where the casing of a vocabulary file is known, as a manifest or a checkpoint records it. The other kinds ignore
/// `casing`, because they have their own.
std::shared_ptr<const Tokenizer> open_tokenizer(const std::filesystem::path& file, Casing casing,
                                                TokenRules rules = TokenRules::huggingface);

}  // namespace bertpretrain
