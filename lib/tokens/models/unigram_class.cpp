#include "tokens/models/unigram_class.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace {

using Json = nlohmann::json;

/// The names that both classes give the roles, where the files name none.
const std::vector<std::pair<std::string, std::string>> class_roles{
    {"bos_token", "<s>"},   {"eos_token", "</s>"}, {"unk_token", "<unk>"},  {"sep_token", "</s>"},
    {"pad_token", "<pad>"}, {"cls_token", "<s>"},  {"mask_token", "<mask>"}};

/// The further tokens of CamembertTokenizer, where the files name none.
constexpr std::array<std::string_view, 3> camembert_tokens{"<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"};

bool is_camembert(const TokenizerFiles& files) { return files.tokenizer_class().starts_with("Camembert"); }

std::string content_of(const TokenizerFiles& files, const std::string& role) {
    if (const auto token = files.role(role)) return token->content;
    return std::ranges::find(class_roles, role, [](const auto& one) { return one.first; })->second;
}

/// Return a member; `absent` where there is none of this type.
std::string text_of(const Json& part, const char* name) {
    const bool has = part.is_object() && part.contains(name) && part[name].is_string();
    return has ? part[name].get<std::string>() : "";
}
bool flag_of(const Json& part, const char* name, bool absent) {
    const bool has = part.is_object() && part.contains(name) && part[name].is_boolean();
    return has ? part[name].get<bool>() : absent;
}
std::string type_of(const Json& part) { return text_of(part, "type"); }

/// Returns the first Precompiled of a normalizer; null if it has none.
Json table_of(const Json& normalizer) {
    if (type_of(normalizer) == "Precompiled") return normalizer;
    if (type_of(normalizer) == "Sequence" && normalizer.contains("normalizers"))
        for (const Json& step : normalizer["normalizers"])
            if (type_of(step) == "Precompiled") return step;
    return nullptr;
}

/// Returns whether a pre-tokenizer is WhitespaceSplit, then Metaspace with this scheme, in the spelling of any version.
bool splits_as_class(const Json& splitter, const std::string& scheme) {
    if (type_of(splitter) != "Sequence" || !splitter.contains("pretokenizers")) return false;
    const Json& steps = splitter["pretokenizers"];
    if (!steps.is_array() || steps.size() != 2 || type_of(steps[0]) != "WhitespaceSplit" || type_of(steps[1]) != "Metaspace")
        return false;
    const std::string earlier = flag_of(steps[1], "add_prefix_space", true) ? "always" : "never";
    return (steps[1].contains("prepend_scheme") ? text_of(steps[1], "prepend_scheme") : earlier) == scheme &&
           flag_of(steps[1], "split", true) && text_of(steps[1], "replacement") == sentence_piece_space;
}

/// Returns the id of the token for unknown characters: XLMRobertaTokenizer's is fixed, CamembertTokenizer looks for its name.
std::size_t unknown_of_class(const TokenizerFiles& files, const Json& vocab) {
    constexpr std::size_t of_xlm_roberta = 3;
    if (!is_camembert(files)) return of_xlm_roberta;
    const std::string name = content_of(files, "unk_token");
    for (std::size_t id = 0; id < vocab.size(); ++id)
        if (vocab[id].is_array() && !vocab[id].empty() && vocab[id][0] == name) return id;
    return 0;
}

}  // namespace

std::string with_unigram_steps(const std::string& content, const TokenizerFiles& files, std::vector<std::string>& remarks) {
    Json json = Json::parse(content, nullptr, false);
    if (!json.is_object() || !json.contains("model")) return content;  // refused where it is read
    if (type_of(json["model"]) != "Unigram" || !json["model"].contains("vocab") || !json["model"]["vocab"].is_array())
        files.refuse(
            "tokenizer.json",
            concat("model.type is \"", type_of(json["model"]), "\", but its class is ", files.tokenizer_class(),
                   ", which needs Unigram with a list of tokens\n  do: if the ",
                   "tokenizer.json is right, set tokenizer_class to PreTrainedTokenizerFast in ", "tokenizer_config.json"));
    const auto use = [&](Json& part, const std::string& name, Json of_class, bool is_same) {
        if (!is_same)
            remarks.push_back(concat((files.folder() / tokenizer_json_name).string(), ": its ", name, " is not used; ",
                                     files.tokenizer_class(), " of transformers uses ", of_class.is_null() ? "none" : "its own",
                                     ", and so does this program"));
        part = std::move(of_class);
    };
    const Json table = table_of(json.value("normalizer", Json()));
    use(json["normalizer"], table.is_null() ? "normalizer" : "normalizer, except the table of Precompiled,", table,
        json.value("normalizer", Json()) == table);
    const std::string scheme = files.flag("add_prefix_space", true) ? "always" : "never";
    const Json sign{{"type", "Metaspace"}, {"replacement", sentence_piece_space}, {"prepend_scheme", scheme}, {"split", true}};
    const Json splitter{{"type", "Sequence"}, {"pretokenizers", {{{"type", "WhitespaceSplit"}}, sign}}};
    use(json["pre_tokenizer"], "pre_tokenizer", splitter, splits_as_class(json.value("pre_tokenizer", Json()), scheme));
    Json& model = json["model"];
    const Json unknown = unknown_of_class(files, model["vocab"]);
    use(model["unk_id"], "unk_id", unknown, model["unk_id"] == unknown);
    use(model["byte_fallback"], "byte_fallback", false, !flag_of(model, "byte_fallback", false));
    json["post_processor"] = nullptr;  // unigram_class_roles() has the class's
    return json.dump();
}

std::vector<DeclaredToken> unigram_added_tokens(const TokenizerFiles& files, const TokenizerDefinition& definition) {
    std::vector<DeclaredToken> tokens = files.added_tokens(definition.added_tokens, class_roles);
    if (!is_camembert(files)) return tokens;
    const auto find = [&](std::string_view content) {
        return std::ranges::find(tokens, content, [](const DeclaredToken& one) { return std::string_view(one.token.content); });
    };
    if (const auto mask = find(content_of(files, "mask_token")); !mask->id && !files.gives_flags("mask_token"))
        mask->token.lstrip = true;
    if (files.lists_further_tokens()) return tokens;
    for (const std::string_view name : camembert_tokens) {
        if (find(name) != tokens.end()) continue;
        AddedToken token{.content = std::string(name)};
        token.normalized = false;
        token.special = true;
        tokens.push_back({token, std::nullopt, "tokenizer_config.json"});
    }
    return tokens;
}

TokenRoles unigram_class_roles(const TokenizerFiles& files, const TokenizerDefinition& definition) {
    const auto unknown = static_cast<std::size_t>(std::get<UnigramModel>(definition.model).unknown);
    TokenRoles roles{content_of(files, "pad_token"), definition.tokens.at(unknown), content_of(files, "bos_token"),
                     content_of(files, "eos_token"), content_of(files, "mask_token")};
    roles.are_added = true;
    return roles;
}

void refuse_shifted_pieces(const std::filesystem::path& folder) {
    for (const char* name : {"sentencepiece.bpe.model", "spiece.model", "spm.model"})
        if (std::error_code ignored; std::filesystem::exists(folder / name, ignored))
            throw DataError(concat((folder / name).string(),
                                   ": is the folder's only tokenizer, but its ids are not the model's, because ",
                                   "transformers moves them; expected a tokenizer.json",
                                   "\n  do: AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER) writes one"));
}

}  // namespace bertpretrain
