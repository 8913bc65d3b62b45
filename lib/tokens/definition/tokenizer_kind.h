#pragma once
// The kinds of files that define a tokenizer.

#include <string_view>

namespace bertpretrain {

enum class TokenizerKind {
    token_list,      ///< one token per line, for WordPiece
    tokenizer_json,  ///< Hugging Face's definition
    sentence_piece,  ///< a model of Google's SentencePiece
};

/// Recognizes the kind of a tokenizer's file by its content. Content of no known kind counts as a list of tokens.
TokenizerKind tokenizer_kind(std::string_view content);

/// Returns the kind with its article for messages, e.g. "a tokenizer.json".
std::string_view kind_name(TokenizerKind kind);

}  // namespace bertpretrain
