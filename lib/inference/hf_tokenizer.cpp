#include "inference/hf_tokenizer.h"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/files/files.h"
#include "tokens/definition/bert_template.h"
#include "tokens/definition/read_definition.h"
#include "tokens/definition/tokenizer_definition.h"
#include "tokens/definition/tokenizer_json.h"
#include "tokens/vocabulary/vocabulary_file.h"

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
            {"post_processor", bert_template({"[CLS]", vocabulary.specials().cls}, {"[SEP]", vocabulary.specials().sep})},
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

/// The tokens with a role, as transformers names the roles.
Json roles_of(const Vocabulary& vocabulary) {
    const SpecialIds& ids = vocabulary.specials();
    Json json = Json::object();
    const auto add = [&](const char* role, std::int32_t id) {
        if (id != SpecialIds::none) json[role] = vocabulary.token(id);
    };
    add("unk_token", ids.unk);
    add("sep_token", ids.sep);
    add("pad_token", ids.pad);
    add("cls_token", ids.cls);
    add("mask_token", ids.mask);
    return json;
}

/// Writes tokenizer_config.json and special_tokens_map.json. @param more further members of tokenizer_config.json
void write_tokenizer_config(const std::filesystem::path& folder, const Vocabulary& vocabulary, std::int64_t longest,
                            const Json& more) {
    const Json roles = roles_of(vocabulary);
    Json config = roles;
    config["clean_up_tokenization_spaces"] = false;
    config["model_input_names"] = {"input_ids", "token_type_ids", "attention_mask"};
    config["model_max_length"] = longest;
    config.update(more);
    write_atomically(folder / "tokenizer_config.json", config.dump(2) + "\n");
    write_atomically(folder / "special_tokens_map.json", roles.dump(2) + "\n");
}

}  // namespace

void write_hf_tokenizer(const std::filesystem::path& folder, const Vocabulary& vocabulary, Casing casing, std::int64_t longest) {
    const auto write = [&](const char* name, const Json& json) { write_atomically(folder / name, json.dump(2) + "\n"); };
    vocabulary.write(folder / "vocab.txt");
    write("tokenizer.json", tokenizer_json(vocabulary, casing));
    write("tokenizer_config.json", tokenizer_config(casing, longest));
    write("special_tokens_map.json", special_roles_json());
}

void write_hf_tokenizer(const std::filesystem::path& folder, const std::string& tokenizer_json, std::int64_t longest) {
    const std::string where = "tokenizer.json";
    const TokenizerDefinition definition = read_tokenizer_json(tokenizer_json, where);
    const Vocabulary vocabulary(definition, where);
    const SpecialIds& ids = vocabulary.require_specials().specials();
    if (definition.roles.are_added) {
        write_atomically(folder / tokenizer_json_name, tokenizer_json);
    } else {
        nlohmann::json json = nlohmann::json::parse(tokenizer_json);
        json["post_processor"] =
            nlohmann::json(bert_template({vocabulary.token(ids.cls), ids.cls}, {vocabulary.token(ids.sep), ids.sep}));
        write_atomically(folder / tokenizer_json_name, json.dump() + "\n");
    }
    write_tokenizer_config(folder, vocabulary, longest, {{"tokenizer_class", "PreTrainedTokenizerFast"}});
}

void write_hf_sentence_pieces(const std::filesystem::path& folder, const std::string& model, std::int64_t longest) {
    const std::string where(sentence_piece_name);
    const Vocabulary vocabulary(read_definition(model, where).value(), where);
    const SpecialIds& ids = vocabulary.require_specials().specials();
    write_atomically(folder / sentence_piece_name, model);
    // Without bos_token and eos_token, transformers would look for "<s>" and "</s>".
    write_tokenizer_config(folder, vocabulary, longest,
                           {{"bos_token", vocabulary.token(ids.cls)},
                            {"eos_token", vocabulary.token(ids.sep)},
                            {"special_tokens_pattern", "cls_sep"},
                            {"token_type_ids_pattern", "bert_style"},
                            {"tokenizer_class", "SentencePieceBackend"}});
}

}  // namespace bertpretrain
