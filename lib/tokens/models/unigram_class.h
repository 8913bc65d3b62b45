#pragma once
// What transformers' classes XLMRobertaTokenizer and CamembertTokenizer do with a tokenizer.json: they take its tokens, scores
// and table of characters, and use their own steps.

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/definition/folder_files.h"
#include "tokens/definition/tokenizer_definition.h"

namespace bertpretrain {

inline constexpr std::array<std::string_view, 2> unigram_classes{"XLMRobertaTokenizer", "CamembertTokenizer"};

/// Returns the tokenizer.json with the steps of its class. @param remarks gets one for each step that is not used
/// @throws DataError for a tokenizer.json whose model is no Unigram
std::string with_unigram_steps(const std::string& content, const TokenizerFiles& files, std::vector<std::string>& remarks);

/// Returns the added tokens of the files, and those that the class adds.
std::vector<DeclaredToken> unigram_added_tokens(const TokenizerFiles& files, const TokenizerDefinition& definition);

/// Returns the roles: the class puts bos_token and eos_token around a text, not cls_token and sep_token.
TokenRoles unigram_class_roles(const TokenizerFiles& files, const TokenizerDefinition& definition);

/// @throws DataError for a folder whose only tokenizer is a SentencePiece model under the names that transformers' classes use
void refuse_shifted_pieces(const std::filesystem::path& folder);

}  // namespace bertpretrain
