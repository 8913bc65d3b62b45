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

/// Ends the message about vocab.json or merges.txt, which together define a BPE.
inline constexpr std::string_view half_of_tokenizer =
    ": is one half of a BPE, whose other half is in merges.txt or vocab.json; expected one file\n  do: write a tokenizer.json, "
    "for example "
    "with transformers: AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)";

}  // namespace bertpretrain
