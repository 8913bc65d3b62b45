#include "tokens/definition/tokenizer_kind.h"

#include <cstddef>

namespace bertpretrain {
namespace {

bool is_json_object(std::string_view content) {
    const std::size_t first = content.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || content[first] != '{') return false;
    const std::size_t second = content.find_first_not_of(" \t\r\n", first + 1);
    return second != std::string_view::npos && (content[second] == '"' || content[second] == '}');
}

/// A model is a protobuf message that begins with its list of pieces (field 1), whose scores contain zero bytes.
bool is_model_message(std::string_view content) {
    constexpr std::size_t searched = 4096;
    return content.starts_with('\x0A') && content.substr(0, searched).find('\0') != std::string_view::npos;
}

}  // namespace

TokenizerKind tokenizer_kind(std::string_view content) {
    if (is_json_object(content)) return TokenizerKind::tokenizer_json;
    return is_model_message(content) ? TokenizerKind::sentence_piece : TokenizerKind::token_list;
}

std::string_view kind_name(TokenizerKind kind) {
    switch (kind) {
        case TokenizerKind::tokenizer_json:
            return "a tokenizer.json";
        case TokenizerKind::sentence_piece:
            return "a SentencePiece model";
        case TokenizerKind::token_list:
            break;
    }
    return "a vocabulary file with one token per line";
}

}  // namespace bertpretrain
