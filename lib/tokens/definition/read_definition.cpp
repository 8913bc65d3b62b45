#include "tokens/definition/read_definition.h"

#include <algorithm>
#include <memory>

#include "tokens/definition/sentence_pieces.h"
#include "tokens/definition/token_roles.h"
#include "tokens/definition/tokenizer_json.h"

namespace bertpretrain {
namespace {

TokenizerDefinition read_sentence_pieces(std::string_view content, const std::string& where) {
    const auto pieces = std::make_shared<const SentencePieces>(content, where);
    TokenizerDefinition definition;
    definition.tokens = pieces->tokens();
    definition.model = SentencePieceModel{pieces};
    definition.roles = token_roles(definition, std::nullopt);
    const TokenRoles& roles = definition.roles;
    for (const std::string& token : {roles.pad, roles.unk, roles.cls, roles.sep, roles.mask}) {
        const auto found = std::ranges::find(definition.tokens, token);
        if (token.empty() || found == definition.tokens.end()) continue;
        AddedToken added{.id = static_cast<std::int32_t>(found - definition.tokens.begin()), .content = token};
        added.normalized = false;
        added.special = true;
        definition.added_tokens.push_back(added);
    }
    return definition;
}

}  // namespace

std::optional<TokenizerDefinition> read_definition(std::string_view content, const std::string& where) {
    switch (tokenizer_kind(content)) {
        case TokenizerKind::tokenizer_json:
            return read_tokenizer_json(content, where);
        case TokenizerKind::sentence_piece:
            return read_sentence_pieces(content, where);
        case TokenizerKind::token_list:
            break;
    }
    return std::nullopt;
}

}  // namespace bertpretrain
