#include "inference/hf_tokenizer.h"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/files.h"

namespace bertpretrain {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array special_roles{std::pair("unk_token", "[UNK]"), std::pair("sep_token", "[SEP]"),
                                   std::pair("pad_token", "[PAD]"), std::pair("cls_token", "[CLS]"),
                                   std::pair("mask_token", "[MASK]")};

Json special_roles_json() {
    Json json;
    for (const auto& [role, token] : special_roles) json[role] = token;
    return json;
}

/// The template [CLS] A [SEP], and [CLS] A [SEP] B [SEP] for pairs.
Json post_processor(const Vocabulary& vocabulary) {
    const auto special = [](const char* token, int type) { return Json{{"SpecialToken", {{"id", token}, {"type_id", type}}}}; };
    const auto sequence = [](const char* id, int type) { return Json{{"Sequence", {{"id", id}, {"type_id", type}}}}; };
    const auto entry = [](const char* token, std::int32_t id) {
        return Json{{"id", token}, {"ids", Json::array({id})}, {"tokens", Json::array({token})}};
    };
    const SpecialIds& ids = vocabulary.specials();
    return {{"type", "TemplateProcessing"},
            {"single", Json::array({special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0)})},
            {"pair",
             Json::array({special("[CLS]", 0), sequence("A", 0), special("[SEP]", 0), sequence("B", 1), special("[SEP]", 1)})},
            {"special_tokens", {{"[CLS]", entry("[CLS]", ids.cls)}, {"[SEP]", entry("[SEP]", ids.sep)}}}};
}

Json added_tokens(const Vocabulary& vocabulary) {
    Json tokens = Json::array();
    for (std::int32_t id = 0; id < vocabulary.size(); ++id)
        for (const std::string_view token : special_tokens)
            if (vocabulary.token(id) == token)
                tokens.push_back({{"id", id},
                                  {"content", token},
                                  {"single_word", false},
                                  {"lstrip", false},
                                  {"rstrip", false},
                                  {"normalized", false},
                                  {"special", true}});
    return tokens;
}

Json tokenizer_json(const Vocabulary& vocabulary, Casing casing) {
    constexpr int longest_word = 100;
    Json::object_t ids;  // filled through its container: its own insertion searches all earlier keys (quadratic)
    for (std::int32_t id = 0; id < vocabulary.size(); ++id)
        static_cast<Json::object_t::Container&>(ids).emplace_back(vocabulary.token(id), id);
    return {{"version", "1.0"},
            {"truncation", nullptr},
            {"padding", nullptr},
            {"added_tokens", added_tokens(vocabulary)},
            {"normalizer",
             {{"type", "BertNormalizer"},
              {"clean_text", true},
              {"handle_chinese_chars", true},
              {"strip_accents", nullptr},
              {"lowercase", casing == Casing::uncased}}},
            {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
            {"post_processor", post_processor(vocabulary)},
            {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
            {"model",
             {{"type", "WordPiece"},
              {"unk_token", "[UNK]"},
              {"continuing_subword_prefix", "##"},
              {"max_input_chars_per_word", longest_word},
              {"vocab", std::move(ids)}}}};
}

Json tokenizer_config(Casing casing, std::int64_t longest) {
    Json json = special_roles_json();
    json["do_lower_case"] = casing == Casing::uncased;
    json["strip_accents"] = nullptr;
    json["tokenize_chinese_chars"] = true;
    json["model_max_length"] = longest;
    json["tokenizer_class"] = "BertTokenizer";
    return json;
}

}  // namespace

void write_hf_tokenizer(const std::filesystem::path& folder, const Vocabulary& vocabulary, Casing casing, std::int64_t longest) {
    const auto write = [&](const char* name, const Json& json) { write_atomically(folder / name, json.dump(2) + "\n"); };
    vocabulary.write(folder / "vocab.txt");
    write("tokenizer.json", tokenizer_json(vocabulary, casing));
    write("tokenizer_config.json", tokenizer_config(casing, longest));
    write("special_tokens_map.json", special_roles_json());
}

}  // namespace bertpretrain
