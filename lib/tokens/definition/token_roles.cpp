#include "tokens/definition/token_roles.h"

#include <algorithm>
#include <span>

#include "core/error.h"

namespace bertpretrain {
namespace {

std::int64_t segment_of(const JsonPart& piece) {
    const std::optional<JsonPart> segment = piece.find("type_id");
    return segment ? segment->integer() : 0;
}

/// Reads the tokens around one text from a TemplateProcessing.
void read_template(const JsonPart& part, TokenRoles& roles) {
    bool after_text = false;
    for (const JsonPart& piece : part.at("single").elements()) {
        if (piece.find("Sequence")) {
            roles.others_are_added = roles.others_are_added || after_text || segment_of(piece.at("Sequence")) != 0;
            after_text = true;
            continue;
        }
        const std::string token = piece.at("SpecialToken").at("id").text();
        std::string& role = after_text ? roles.sep : roles.cls;
        roles.others_are_added = roles.others_are_added || !role.empty() || segment_of(piece.at("SpecialToken")) != 0;
        if (role.empty() || !after_text) role = token;
    }
}

void read_post_processor(const JsonPart& part, TokenRoles& roles) {
    const std::string type = part.at("type").text();
    if (type == "Sequence") {
        for (const JsonPart& step : part.at("processors").elements()) read_post_processor(step, roles);
    } else if (type == "TemplateProcessing") {
        read_template(part, roles);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
        const auto token = [&](const char* name) {
            const std::vector<JsonPart> pair = part.at(name).elements();
            if (pair.empty()) part.refuse(concat(name, " is empty, expected a token and its id"));
            return pair[0].text();
        };
        roles.cls = token("cls");
        roles.sep = token("sep");
    } else if (type != "ByteLevel") {  // ByteLevel changes offsets only
        part.refuse(concat("has the type ", type,
                           ", which this program does not support; supported are TemplateProcessing, "
                           "BertProcessing, RobertaProcessing, ByteLevel and Sequence"));
    }
}

std::string unknown_of(const WordPieceModel& model, const TokenizerDefinition&) { return model.unknown; }
std::string unknown_of(const SplitPieceModel& model, const TokenizerDefinition&) { return model.unknown; }
std::string unknown_of(const WordLevelModel& model, const TokenizerDefinition&) { return model.unknown; }
std::string unknown_of(const BytePairModel& model, const TokenizerDefinition&) { return model.unknown.value_or(""); }
std::string unknown_of(const CharacterPairModel& model, const TokenizerDefinition&) { return model.unknown.value_or(""); }
std::string unknown_of(const UnigramModel& model, const TokenizerDefinition& definition) {
    return definition.tokens.at(static_cast<std::size_t>(model.unknown));
}
std::string unknown_of(const SentencePieceModel& model, const TokenizerDefinition& definition) {
    return definition.tokens.at(static_cast<std::size_t>(model.pieces->unknown()));
}

/// Sets the role to the first of `names` that is a token, unless it is set already.
void use_first(std::string& role, const TokenizerDefinition& definition, std::span<const std::string_view> names) {
    for (const std::string_view name : names) {
        if (!role.empty()) return;
        if (std::ranges::find(definition.tokens, name) != definition.tokens.end() ||
            std::ranges::any_of(definition.added_tokens, [&](const AddedToken& token) { return token.content == name; }))
            role = name;
    }
}

}  // namespace

TokenRoles token_roles(const TokenizerDefinition& definition, const std::optional<JsonPart>& post_processor) {
    TokenRoles roles;
    if (post_processor) read_post_processor(*post_processor, roles);
    roles.are_added = !roles.cls.empty() && !roles.sep.empty();
    roles.unk = std::visit([&](const auto& model) { return unknown_of(model, definition); }, definition.model);
    use_first(roles.pad, definition, pad_names);
    use_first(roles.unk, definition, unk_names);
    use_first(roles.cls, definition, cls_names);
    use_first(roles.sep, definition, sep_names);
    use_first(roles.mask, definition, mask_names);
    return roles;
}

}  // namespace bertpretrain
