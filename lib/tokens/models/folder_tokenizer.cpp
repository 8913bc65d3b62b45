#include "tokens/models/folder_tokenizer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "core/files/files.h"
#include "core/foreign_json.h"
#include "tokens/definition/added_token_list.h"
#include "tokens/definition/folder_files.h"
#include "tokens/definition/read_definition.h"
#include "tokens/definition/tokenizer_json_steps.h"
#include "tokens/models/pipeline_tokenizer.h"
#include "tokens/models/unigram_class.h"
#include "tokens/models/vocabulary_casing.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;

/// What transformers does with the files of a tokenizer's class.
enum class TokenizerClass {
    bert,        ///< BertTokenizer: the tokens of the files, and BERT's rules as tokenizer_config.json says
    unigram,     ///< XLMRobertaTokenizer, CamembertTokenizer: see unigram_class.h
    definition,  ///< what the tokenizer.json says
    pieces,      ///< a SentencePiece model
};

constexpr std::array<std::string_view, 4> bert_classes{"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer",
                                                       "MobileBertTokenizer"};
constexpr std::array<std::string_view, 2> definition_classes{"PreTrainedTokenizerFast", "TokenizersBackend"};
/// These take vocabulary and merges from the tokenizer.json, and split words in their own way.
constexpr std::array<std::string_view, 2> byte_level_classes{"RobertaTokenizer", "GPT2TokenizerFast"};

/// The names that BertTokenizer gives the roles, where the files name none.
const std::vector<std::pair<std::string, std::string>> bert_roles{
    {"unk_token", "[UNK]"}, {"sep_token", "[SEP]"}, {"pad_token", "[PAD]"}, {"cls_token", "[CLS]"}, {"mask_token", "[MASK]"}};

/// Refuses a tokenizer.json that splits words in another way than RobertaTokenizer and GPT2Tokenizer do.
void check_byte_level_steps(const TokenizerFiles& files) {
    const auto json = parse_foreign_json(read_file(files.folder() / tokenizer_json_name));
    if (!json.is_object()) return;  // refused where it is read
    const auto part = [&](const char* name) { return json.value(name, nlohmann::json()); };
    const nlohmann::json splitter = part("pre_tokenizer"), model = part("model");
    const bool adds_space = files.flag("add_prefix_space", false);
    if (part("normalizer").is_null() && splitter.is_object() && splitter.value("type", "") == "ByteLevel" &&
        splitter.value("use_regex", true) && splitter.value("add_prefix_space", true) == adds_space && model.is_object() &&
        !model.value("ignore_merges", false))
        return;
    files.refuse("tokenizer.json",
                 concat("splits words in another way than ", files.tokenizer_class(), " does, whose normalizer is null, ",
                        "whose pre_tokenizer is ByteLevel with add_prefix_space = ", adds_space ? "true" : "false",
                        " (of tokenizer_config.json), and which applies all merges",
                        "\n  do: if the tokenizer.json is right, set tokenizer_class to PreTrainedTokenizerFast"));
}

/// @throws DataError for a class whose rules this program does not have
TokenizerClass class_of(const TokenizerFiles& files, const std::string& token_file) {
    const std::string name = files.tokenizer_class();
    const bool is_json = token_file == tokenizer_json_name, is_pieces = token_file == sentence_piece_name;
    const auto is_one_of = [&](const auto& names) {
        return std::ranges::any_of(names, [&](std::string_view one) { return name == one || name == std::string(one) + "Fast"; });
    };
    if (is_json && files.ignores_class()) return TokenizerClass::definition;
    if (name.empty()) return is_pieces ? TokenizerClass::pieces : TokenizerClass::bert;
    if (is_pieces && name == "SentencePieceBackend") return TokenizerClass::pieces;
    if (!is_pieces && is_one_of(bert_classes)) return TokenizerClass::bert;
    if (is_json && is_one_of(definition_classes)) return TokenizerClass::definition;
    if (is_json && is_one_of(unigram_classes)) return TokenizerClass::unigram;
    if (is_json && is_one_of(byte_level_classes)) {
        check_byte_level_steps(files);
        return TokenizerClass::definition;
    }
    files.refuse("tokenizer_config.json", concat("tokenizer_class is \"", name, "\", which this program does not support with ",
                                                 token_file, "; expected BertTokenizer",
                                                 is_json     ? " or PreTrainedTokenizerFast"
                                                 : is_pieces ? " with a vocab.txt, or SentencePieceBackend"
                                                             : ""));
}

/// Returns a tokenizer.json of WordPiece with BERT's normalizer and pre-tokenizer in place of others, which transformers'
/// BertTokenizer does not use. Returns other content unchanged.
std::string with_bert_steps(const std::string& content, const TokenizerFiles& files, FolderTokenizer& tokenizer) {
    auto json = parse_foreign_json(content);
    const auto type_of = [](const nlohmann::json& part) { return part.is_object() ? part.value("type", "") : ""; };
    if (!json.is_object() || !json.contains("model") || type_of(json["model"]) != "WordPiece") return content;
    const bool lowers = files.flag("do_lower_case", true);
    const nlohmann::json normalizer{{"type", "BertNormalizer"},
                                    {"clean_text", true},
                                    {"handle_chinese_chars", files.flag("tokenize_chinese_chars", true)},
                                    {"strip_accents", files.flag("strip_accents", lowers)},
                                    {"lowercase", lowers}};
    for (const auto& [name, berts] :
         {std::pair<std::string, nlohmann::json>{"normalizer", normalizer}, {"pre_tokenizer", {{"type", "BertPreTokenizer"}}}}) {
        if (type_of(json[name]) == type_of(berts)) continue;
        tokenizer.remarks.push_back(concat(tokenizer.file.string(), ": its ", name,
                                           " is not used; as transformers' BertTokenizer ", "does, BERT's is used instead"));
        json[name] = berts;
    }
    return json.dump();
}

/// Reads tokens and model. A list of tokens gets BERT's rules.
TokenizerDefinition read_tokens(const fs::path& file, const std::string& content) {
    const std::string where = file.string();
    if (std::optional<TokenizerDefinition> definition = read_definition(content, where)) return *std::move(definition);
    TokenizerDefinition definition;
    definition.tokens = Vocabulary::parse_lines(content, where);
    definition.model = WordPieceModel{};
    return definition;
}

/// Returns a tokenizer.json with the steps of the tokenizer's class.
std::string with_class_steps(TokenizerClass rules, const std::string& content, const TokenizerFiles& files,
                             FolderTokenizer& tokenizer) {
    if (rules == TokenizerClass::bert) return with_bert_steps(content, files, tokenizer);
    return rules == TokenizerClass::unigram ? with_unigram_steps(content, files, tokenizer.remarks) : content;
}

/// @throws DataError where a file says another id than the tokenizers library gives
void take_added_tokens(const TokenizerFiles& files, std::vector<DeclaredToken> declared, TokenizerDefinition& definition,
                       bool keeps_own) {
    AddedTokenList added(definition.tokens);
    if (keeps_own)
        for (const AddedToken& token : definition.added_tokens) added.add(token);
    for (const DeclaredToken& one : declared) {
        if (keeps_own && !one.id && added.contains(one.token.content)) continue;
        const std::int32_t id = added.add(one.token);
        if (one.id && *one.id != id)
            files.refuse(one.file.c_str(),
                         concat(one.file == "tokenizer_config.json" ? "added_tokens_decoder " : "", "gives the token \"",
                                one.token.content, "\" the id ", *one.id, ", but transformers uses ", id,
                                " with this vocabulary of ", definition.tokens.size(), " tokens"));
    }
    definition.added_tokens = added.tokens();
}

/// Returns the casing that the files record, with a remark where transformers overrides the tokenizer.json.
/// @param own of the tokenizer.json; nullopt: there is none
Casing recorded_casing(const TokenizerFiles& files, const std::optional<Casing>& own, FolderTokenizer& tokenizer) {
    const bool lowers = files.flag("do_lower_case", true);
    const Casing casing = casing_for(lowers, files.flag("strip_accents", lowers));
    if (own && *own != casing)
        tokenizer.remarks.push_back(
            concat(tokenizer.file.string(),
                   ": its normalizer's lowercase or strip_accents differ from do_lower_case and strip_accents of ",
                   "tokenizer_config.json (by default true and as do_lower_case), which count, as in transformers"));
    return casing;
}

/// Returns the casing that the vocabulary's tokens suggest, for a folder that records none.
Casing suggested_casing(const FolderTokenizer& tokenizer, const TokenizerFiles& files, bool wants_cased) {
    const Vocabulary vocabulary(tokenizer.definition.tokens, tokenizer.file.string());
    const Casing casing = choose_casing(vocabulary, tokenizer.file, wants_cased);
    const bool lowers = casing == Casing::uncased;
    return casing_for(lowers, files.flag("strip_accents", lowers));
}

/// Gives a list of tokens, or the WordPiece of a tokenizer.json, the rules of BertTokenizer.
void take_bert_rules(const TokenizerFiles& files, FolderTokenizer& tokenizer, bool wants_cased) {
    auto& model = std::get<WordPieceModel>(tokenizer.definition.model);
    const bool has_definition = tokenizer.file.filename() == tokenizer_json_name;
    const std::optional<AddedToken> unknown = files.role("unk_token");
    const std::string unknown_text = unknown ? unknown->content : "[UNK]";
    if (has_definition && model.unknown != unknown_text)
        files.refuse("tokenizer.json", concat("model.unk_token is \"", model.unknown, "\", but tokenizer_config.json makes it \"",
                                              unknown_text, "\"; expected the same"));
    if (constexpr std::size_t longest = 100; model.longest_word != longest)
        files.refuse("tokenizer.json", concat("max_input_chars_per_word is ", model.longest_word,
                                              ", but transformers' BertTokenizer uses ", longest, "; expected the same",
                                              "\n  do: set tokenizer_class to PreTrainedTokenizerFast in tokenizer_config.json"));
    model.unknown = unknown_text;
    const bool splits = files.flag("tokenize_chinese_chars", true);
    if (has_definition && splits != model.splits_ideographs)
        tokenizer.remarks.push_back(concat(tokenizer.file.string(),
                                           ": handle_chinese_chars differs from tokenize_chinese_chars of ",
                                           "tokenizer_config.json (by default true), which counts, as in transformers"));
    model.splits_ideographs = splits;
    take_added_tokens(files, files.added_tokens(tokenizer.definition.added_tokens, bert_roles), tokenizer.definition, false);
    tokenizer.records_casing = has_definition || files.config().contains("do_lower_case");
    const std::optional<Casing> own = has_definition ? std::optional(model.casing) : std::nullopt;
    model.casing =
        tokenizer.records_casing ? recorded_casing(files, own, tokenizer) : suggested_casing(tokenizer, files, wants_cased);
    const auto content = [&](const char* role, const char* absent) {
        const std::optional<AddedToken> token = files.role(role);
        return token ? token->content : absent;
    };
    TokenRoles& roles = tokenizer.definition.roles;
    roles = {content("pad_token", "[PAD]"), unknown_text, content("cls_token", "[CLS]"), content("sep_token", "[SEP]"),
             content("mask_token", "[MASK]")};
    roles.are_added = true;
}

void take_unigram_rules(const TokenizerFiles& files, TokenizerDefinition& definition) {
    take_added_tokens(files, unigram_added_tokens(files, definition), definition, false);
    definition.roles = unigram_class_roles(files, definition);
}

/// Takes what transformers' SentencePieceBackend takes from tokenizer_config.json alone.
/// @throws DataError for a value that changes ids and is not supported
void take_piece_settings(const TokenizerFiles& files, TokenizerDefinition& definition) {
    if (files.tokenizer_class() != "SentencePieceBackend") return;  // transformers has no class for such a folder
    const auto refuse = [&](const std::string& message) { files.refuse("tokenizer_config.json", message); };
    if (files.text("special_tokens_pattern", "").empty())
        refuse(
            "has no special_tokens_pattern, so transformers reads texts without [CLS] and [SEP], which this program does "
            "not support; expected \"cls_sep\"");
    for (const char* name : {"legacy", "token_type_ids_include_special_tokens"})
        if (!files.flag(name, true)) refuse(concat(name, " is false, which this program does not support; expected true"));
    if (const auto found = files.config().find("sp_model_kwargs"); found != files.config().end() && !found->empty())
        refuse(concat("sp_model_kwargs is ", found->dump(), ", which this program does not support; expected {}"));
    const auto content = [&](const char* role) {
        const std::optional<AddedToken> token = files.role(role);
        if (!token) refuse(concat("has no ", role, ", which special_tokens_pattern = \"cls_sep\" puts beside a text"));
        return token->content;
    };
    definition.roles.cls = content("cls_token");
    definition.roles.sep = content("sep_token");
}

/// Adds what the other files say to what a tokenizer.json or a SentencePiece model says.
void take_roles(const TokenizerFiles& files, FolderTokenizer& tokenizer) {
    TokenizerDefinition& definition = tokenizer.definition;
    take_added_tokens(files, files.added_tokens(definition.added_tokens, {}), definition, true);
    if (const auto mask = files.role("mask_token")) definition.roles.mask = mask->content;
    if (const auto pad = files.role("pad_token")) definition.roles.pad = pad->content;
    if (definition.kind() == TokenizerKind::sentence_piece) {
        take_piece_settings(files, definition);
        const auto size = static_cast<std::int64_t>(definition.tokens.size());
        for (const AddedToken& token : definition.added_tokens)
            if (token.id >= size)
                files.refuse("tokenizer_config.json",
                             concat("names the token \"", token.content,
                                    "\", which the SentencePiece model lacks; expected one of its pieces"));
        return;
    }
    if (definition.roles.others_are_added)
        files.refuse("tokenizer.json",
                     "post_processor puts other tokens than one at the start and one at the end around a text, or "
                     "another segment than 0; this program supports [CLS] text [SEP] only");
    if (!definition.roles.are_added && (files.has_config() || files.ignores_class()))
        files.refuse("tokenizer.json",
                     "post_processor puts no tokens around a text, so transformers reads texts without [CLS] and "
                     "[SEP], which this program does not support"
                     "\n  do: give it a TemplateProcessing");
}

/// Refuses `--cased` where the folder records something else.
void check_wanted_casing(const FolderTokenizer& tokenizer, const fs::path& folder) {
    if (tokenizer.definition.kind() == TokenizerKind::sentence_piece ||
        !std::holds_alternative<WordPieceModel>(tokenizer.definition.model))
        refuse_for_own_rules("--cased", tokenizer.file, tokenizer.definition.kind());
    if (std::get<WordPieceModel>(tokenizer.definition.model).casing != Casing::cased)
        throw ConfigError(
            concat(folder.string(), ": its tokenizer is recorded as uncased, which --cased contradicts", "\n  do: omit --cased"));
}

/// Truncation and padding of a tokenizer.json act by their directions only.
void take_directions(const TokenizerFiles& files, FolderTokenizer& tokenizer) {
    std::string side = "right";
    if (tokenizer.file.filename() == tokenizer_json_name) {
        const auto json = nlohmann::json::parse(read_file(tokenizer.file));
        const auto direction = [&](const char* part) {
            const auto found = json.find(part);
            return found != json.end() && found->is_object() ? found->value("direction", "Right") : std::string("Right");
        };
        if (direction("padding") != "Right" && !files.config().contains("padding_side"))
            files.refuse("tokenizer.json", concat("padding.direction is \"", direction("padding"),
                                                  "\", which this program does not support; expected \"Right\""));
        if (direction("truncation") == "Left") side = "left";
    }
    side = files.text("truncation_side", side);
    if (side != "left" && side != "right")
        files.refuse("tokenizer_config.json", concat("truncation_side is \"", side, "\", expected \"right\" or \"left\""));
    tokenizer.truncates_left = side == "left";
}

/// Returns FolderTokenizer::class_name: the class that the files name, else the one whose rules were taken.
std::string class_of_copy(TokenizerClass rules, const TokenizerFiles& files, const TokenizerDefinition& definition) {
    if (const std::string named = files.tokenizer_class(); !named.empty()) return named;
    if (rules == TokenizerClass::bert) return "BertTokenizer";
    const bool adds_no_tokens = rules == TokenizerClass::pieces || (!files.has_config() && !definition.roles.are_added);
    return adds_no_tokens ? "" : "PreTrainedTokenizerFast";
}

}  // namespace

fs::path token_file_in_model_folder(const fs::path& folder) {
    for (const std::string_view name : {tokenizer_json_name, token_list_name, sentence_piece_name})
        if (std::error_code ignored; fs::exists(folder / name, ignored)) return folder / name;
    return {};
}

std::optional<FolderTokenizer> read_folder_tokenizer(const fs::path& folder, bool wants_cased) {
    FolderTokenizer tokenizer;
    tokenizer.file = token_file_in_model_folder(folder);
    if (tokenizer.file.empty()) {
        refuse_shifted_pieces(folder);
        return std::nullopt;
    }
    const TokenizerFiles files(folder);
    TokenizerClass rules = class_of(files, tokenizer.file.filename());
    if (rules == TokenizerClass::pieces && files.ignores_class())
        tokenizer.remarks.push_back(concat(tokenizer.file.string(),
                                           ": is read as SentencePieceBackend reads it; AutoTokenizer of ",
                                           "transformers 5 takes another class for every ModernBERT, with other ids"));
    const std::string content = read_file(tokenizer.file);
    tokenizer.definition = read_tokens(tokenizer.file, with_class_steps(rules, content, files, tokenizer));
    tokenizer.max_length = files.max_length();
    take_directions(files, tokenizer);
    if (rules == TokenizerClass::bert && !std::holds_alternative<WordPieceModel>(tokenizer.definition.model)) {
        if (!files.tokenizer_class().empty())
            files.refuse("tokenizer_config.json",
                         concat("tokenizer_class is ", files.tokenizer_class(), ", but ", tokenizer.file.filename().string(),
                                " is no WordPiece\n  do: set it to PreTrainedTokenizerFast"));
        rules = TokenizerClass::definition;
    }
    if (rules == TokenizerClass::bert) take_bert_rules(files, tokenizer, wants_cased);
    else if (rules == TokenizerClass::unigram) take_unigram_rules(files, tokenizer.definition);
    else take_roles(files, tokenizer);
    if (wants_cased && tokenizer.records_casing) check_wanted_casing(tokenizer, folder);
    tokenizer.class_name = class_of_copy(rules, files, tokenizer.definition);
    return tokenizer;
}

void lower_first(FolderTokenizer& tokenizer) {
    TokenizerDefinition& definition = tokenizer.definition;
    if (auto* const pieces = std::get_if<WordPieceModel>(&definition.model)) {
        const bool strips = pieces->casing == Casing::uncased || pieces->casing == Casing::cased_without_accents;
        pieces->casing = casing_for(true, strips);
        return;
    }
    const auto add = [&](auto& model) {
        if constexpr (requires { model.normalizations; }) model.normalizations.insert(model.normalizations.begin(), LowerCase{});
        else
            throw DataError(concat(tokenizer.file.string(), ": do_lower_case of sentence_bert_config.json is not supported ",
                                   "with a SentencePiece model; expected false"));
    };
    std::visit(add, definition.model);
}

std::shared_ptr<const Tokenizer> open_folder_tokenizer(const FolderTokenizer& tokenizer) {
    const std::string where = tokenizer.file.string();
    auto vocabulary = std::make_shared<const Vocabulary>(tokenizer.definition, where);
    return std::make_shared<const PipelineTokenizer>(tokenizer.definition, std::move(vocabulary), where);
}

}  // namespace bertpretrain
