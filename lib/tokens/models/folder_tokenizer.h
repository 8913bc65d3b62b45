#pragma once
// Reads the tokenizer of a model's folder from all of its files, as transformers' AutoTokenizer does.

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tokens/definition/tokenizer_definition.h"
#include "tokens/models/tokenizer.h"

namespace bertpretrain {

/// The files of a tokenizer in a model's folder. config.json adds the class, where no other file names one.
inline constexpr std::array<const char*, 6> folder_tokenizer_files{
    "vocab.txt", "tokenizer.json", "tokenizer.model", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"};

/// What tokenizer.json, vocab.txt or tokenizer.model say, together with tokenizer_config.json, special_tokens_map.json,
/// added_tokens.json, and do_lower_case of sentence-transformers.
struct FolderTokenizer {
    std::filesystem::path file;  ///< with the tokens; tokenizer.json before vocab.txt before tokenizer.model
    TokenizerDefinition definition;
    std::optional<std::int64_t> max_length;  ///< model_max_length: tokens per text, with the special ones
    bool truncates_left = false;             ///< a longer text loses its beginning
    bool records_casing = true;              ///< false: the casing is that of the vocabulary's tokens
    /// The class of transformers that gives these ids from a copy of the files; empty: none does.
    std::string class_name{};
    std::vector<std::string> remarks;  ///< contradictions of the files, for the log
};

/// Returns nullopt for a folder without a tokenizer.
/// @param wants_cased whether cased text is asked for
/// @throws DataError naming the file and the field for a damaged file, and for anything that transformers does and this program
/// does not
/// @throws ConfigError if cased text is asked for, but the folder says otherwise
std::optional<FolderTokenizer> read_folder_tokenizer(const std::filesystem::path& folder, bool wants_cased = false);

/// Makes the tokenizer put text into lower case before it normalizes it. @throws DataError for a SentencePiece model
void lower_first(FolderTokenizer& tokenizer);

/// Returns the tokenizer. @throws DataError if the definition contradicts itself
std::shared_ptr<const Tokenizer> open_folder_tokenizer(const FolderTokenizer& tokenizer);

/// Returns the file with the tokens in a folder of Hugging Face; empty if it has none.
std::filesystem::path token_file_in_model_folder(const std::filesystem::path& folder);

}  // namespace bertpretrain
