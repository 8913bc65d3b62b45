#pragma once
// Under which names folders of shards, checkpoints and models carry their tokenizer.

#include <filesystem>
#include <string>
#include <string_view>

namespace bertpretrain {

/// A list of tokens, and Hugging Face's definition of a tokenizer. A folder that has both is read by its list.
inline constexpr std::string_view token_list_name = "vocab.txt", tokenizer_json_name = "tokenizer.json";

/// Returns the path of the tokenizer in a folder; empty if it has none.
std::filesystem::path tokenizer_in_folder(const std::filesystem::path& folder);

/// Returns the name under which a folder carries this file, by its content. @throws DataError if it cannot be read
std::string_view carried_name(const std::filesystem::path& file);

}  // namespace bertpretrain
