#pragma once
// Under which names folders of shards, checkpoints and models carry their tokenizer.

#include <filesystem>
#include <string>
#include <string_view>

#include "tokens/definition/tokenizer_kind.h"

namespace bertpretrain {

/// A list of tokens, Hugging Face's definition of a tokenizer, and a SentencePiece model. Of several the first is read.
inline constexpr std::string_view token_list_name = "vocab.txt", tokenizer_json_name = "tokenizer.json",
                                  sentence_piece_name = "tokenizer.model";

/// Returns the path of the tokenizer in a folder; empty if it has none.
std::filesystem::path tokenizer_in_folder(const std::filesystem::path& folder);

/// Returns the message about a folder where tokenizer_in_folder() finds nothing. @param consequence ends its first sentence
std::string no_tokenizer_in(const std::filesystem::path& folder, std::string_view consequence);

/// Returns the content of a tokenizer's file. @throws DataError if it cannot be read, or is a folder, a Git LFS pointer or
/// another file that is known to be no tokenizer (foreign_file.h), or shorter than the record beside it says
std::string read_tokenizer_file(const std::filesystem::path& file);

/// Returns what an export carries of a tokenizer's file: its bytes, but a list of tokens as UTF-8 without a byte order mark,
/// which other programs would take for a part of the first token. @throws DataError like read_tokenizer_file()
std::string carried_content(const std::filesystem::path& file);

/// Returns the name under which a folder carries a file of this kind.
std::string_view carried_name(TokenizerKind kind);
/// The same for a file, by its content. @throws DataError if it cannot be read
std::string_view carried_name(const std::filesystem::path& file);

/// A tokenizer's file in memory.
struct TokenizerFile {
    std::string name;     ///< carried_name()
    std::string content;  ///< its own bytes
};
/// @throws DataError like read_tokenizer_file()
TokenizerFile tokenizer_file(const std::filesystem::path& file);

}  // namespace bertpretrain
