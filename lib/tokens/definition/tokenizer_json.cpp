#include "tokens/definition/tokenizer_json.h"

#include <algorithm>

#include "core/error.h"
#include "core/foreign_json.h"
#include "tokens/definition/added_token_list.h"
#include "tokens/definition/json_part.h"
#include "tokens/definition/token_roles.h"
#include "tokens/definition/tokenizer_json_model.h"
#include "tokens/definition/tokenizer_kind.h"

namespace bertpretrain {
namespace {

AddedToken read_added_token(const JsonPart& part) {
    part.allow({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    AddedToken token{static_cast<std::int32_t>(std::clamp<std::int64_t>(part.at("id").integer(), -1, most_token_ids)),
                     part.at("content").text(),
                     part.flag("single_word", false),
                     part.flag("lstrip", false),
                     part.flag("rstrip", false),
                     part.flag("normalized", true),
                     part.flag("special", false)};
    if (token.id < 0 || token.id == most_token_ids) part.refuse(concat("has the id ", part.at("id").value().dump()));
    if (token.content.empty()) part.refuse("has no content");
    return token;
}

/// Reads the added tokens, and checks that tokenizers would give them the ids that the file says.
std::vector<AddedToken> read_added_tokens(const JsonPart& part, const std::vector<std::string>& tokens) {
    AddedTokenList added(tokens);
    for (const JsonPart& element : part.elements()) {
        const AddedToken token = read_added_token(element);
        const std::int32_t expected = added.add(token);
        if (token.id != expected)
            element.refuse(concat("gives \"", token.content, "\" the id ", token.id, ", but tokenizers would use ", expected));
    }
    return added.tokens();
}

}  // namespace

TokenizerDefinition read_tokenizer_json(std::string_view content, const std::string& where) {
    const auto json = parse_foreign_json(content);
    if (json.is_discarded()) throw DataError(concat(where, ": is damaged JSON, expected a tokenizer.json"));
    const JsonPart file(json, where);
    const bool is_list_of_ids =
        !json.empty() && std::ranges::all_of(json, [](const auto& value) { return value.is_number_integer(); });
    if (is_list_of_ids) throw DataError(concat(where, half_of_tokenizer));
    if (!json.contains("model"))
        file.refuse("has no member \"model\"; expected a tokenizer.json of Hugging Face's tokenizers, or one token per line");
    if (const auto& model = json.at("model"); !model.is_object() || (!model.contains("type") && !model.contains("vocab")))
        file.refuse(
            "is no tokenizer.json of Hugging Face's tokenizers: its \"model\" has no \"vocab\"; expected one, or a text with "
            "one token per line");
    file.allow({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder",
                "model"});
    file.require("version", "1.0");
    TokenizerDefinition definition;
    read_model(file, definition);
    if (const auto added = file.find("added_tokens")) definition.added_tokens = read_added_tokens(*added, definition.tokens);
    definition.roles = token_roles(definition, file.find("post_processor"));
    return definition;
}

}  // namespace bertpretrain
