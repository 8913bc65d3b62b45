#include "tokens/vocabulary_file.h"

#include "core/files.h"

namespace bertpretrain {

std::filesystem::path tokenizer_in_folder(const std::filesystem::path& folder) {
    for (const std::string_view name : {token_list_name, tokenizer_json_name, sentence_piece_name})
        if (std::error_code ignored; std::filesystem::exists(folder / name, ignored)) return folder / name;
    return {};
}

std::string_view carried_name(TokenizerKind kind) {
    switch (kind) {
        case TokenizerKind::tokenizer_json:
            return tokenizer_json_name;
        case TokenizerKind::sentence_piece:
            return sentence_piece_name;
        case TokenizerKind::token_list:
            break;
    }
    return token_list_name;
}

std::string_view carried_name(const std::filesystem::path& file) { return carried_name(tokenizer_kind(read_file(file))); }

}  // namespace bertpretrain
