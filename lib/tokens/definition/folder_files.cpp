#include "tokens/definition/folder_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "config/foreign_fields.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/foreign_json.h"
#include "tokens/definition/tokenizer_config_fields.h"

namespace bertpretrain {
namespace {

using Json = TokenizerFiles::Json;
namespace fs = std::filesystem;

constexpr const char *config_name = "tokenizer_config.json", *map_name = "special_tokens_map.json",
                     *added_name = "added_tokens.json";

/// The roles in the order in which transformers adds their tokens.
constexpr std::array<std::string_view, 7> standard_roles{"bos_token", "eos_token", "unk_token", "sep_token",
                                                         "pad_token", "cls_token", "mask_token"};

constexpr std::array<const char*, 2> further_lists{"extra_special_tokens", "additional_special_tokens"};

std::string shown(const Json& value) {
    constexpr std::size_t longest = 100;
    return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, longest);
}

bool names_token(const Json& value) { return value.is_string() || value.is_object(); }

/// Returns whether a field is a role beyond the standard ones, such as "audio_token".
bool is_further_role(const std::string& name, const Json& value) {
    return name.ends_with("_token") && std::ranges::find(standard_roles, name) == standard_roles.end() && names_token(value);
}

const Json* find(const Json& object, const std::string& name) {
    const auto member = object.find(name);
    return member == object.end() || member->is_null() ? nullptr : &*member;
}

}  // namespace

TokenizerFiles::TokenizerFiles(fs::path folder) : folder_(std::move(folder)) {
    has_config_ = fs::exists(folder_ / config_name);
    config_ = read(config_name);
    special_map_ = read(map_name);
    added_ = read(added_name);
    check_foreign_fields(nlohmann::json(config_), tokenizer_config_fields(),
                         [&](const std::string& message) { refuse(config_name, message); });
    if (const Json* names = find(config_, "model_input_names"))
        if (names->is_array() && std::ranges::find(*names, "attention_mask") == names->end())
            refuse(config_name,
                   concat("model_input_names is ", shown(*names),
                          ", without \"attention_mask\", so that vectors depend on the batch; expected a list with it"));
}

Json TokenizerFiles::read(const char* name) const {
    if (!fs::exists(folder_ / name)) return Json::object();
    auto json = parse_foreign_json<Json>(read_file(folder_ / name));
    if (!json.is_object()) refuse(name, "is damaged: expected a JSON object");
    return json;
}

void TokenizerFiles::refuse(const char* file, const std::string& message) const {
    throw DataError(concat((folder_ / file).string(), ": ", message));
}

bool TokenizerFiles::flag(const char* name, bool absent) const {
    const Json* value = find(config_, name);
    if (value != nullptr && !value->is_boolean())
        refuse(config_name, concat(name, " is ", shown(*value), ", expected true or false"));
    return value == nullptr ? absent : value->get<bool>();
}

std::string TokenizerFiles::text(const char* name, const std::string& absent) const {
    const Json* value = find(config_, name);
    if (value != nullptr && !value->is_string()) refuse(config_name, concat(name, " is ", shown(*value), ", expected a string"));
    return value == nullptr ? absent : value->get<std::string>();
}

/// Returns a text of config.json; "" where it has none.
std::string TokenizerFiles::text_of_model(const char* name) const {
    const Json model = read("config.json");
    const Json* const value = find(model, name);
    return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

std::string TokenizerFiles::tokenizer_class() const {
    const std::string type = text_of_model("model_type");
    const std::string of_type = type == "roberta"       ? "RobertaTokenizer"
                                : type == "xlm-roberta" ? "XLMRobertaTokenizer"
                                : type == "camembert"   ? "CamembertTokenizer"
                                                        : "";
    // transformers 5 lists models whose published files name a wrong class: this one, and those of ignores_class().
    if (!of_type.empty() && text_of_model("model_name") == "camembertv2-base") return of_type;
    for (const std::string& own : {text("tokenizer_class", ""), text_of_model("tokenizer_class")})
        if (!own.empty()) return own;
    return of_type;
}

bool TokenizerFiles::ignores_class() const { return text_of_model("model_type") == "modernbert"; }

std::optional<std::int64_t> TokenizerFiles::max_length() const {
    constexpr double none = 1e9;
    for (const char* name : {"model_max_length", "max_len"}) {
        const Json* value = find(config_, name);
        if (value == nullptr) continue;
        if (!value->is_number() || value->get<double>() < 1)
            refuse(config_name, concat(name, " is ", shown(*value), ", expected a positive number of tokens"));
        if (value->get<double>() < none) return static_cast<std::int64_t>(value->get<double>());
        return std::nullopt;
    }
    return std::nullopt;
}

/// Reads a token: its text, or an object with its text and flags. @param special the flag where the object has none
AddedToken TokenizerFiles::token_of(const Json& value, const char* file, const std::string& field, bool special) const {
    const auto wrong = [&] { refuse(file, concat(field, " is ", shown(value), ", expected a token")); };
    AddedToken token;
    token.special = special;
    const Json* const content = value.is_object() ? find(value, "content") : &value;
    if (content == nullptr || !content->is_string()) wrong();
    token.content = content->get<std::string>();
    if (token.content.empty()) wrong();
    const auto flag_of = [&](const char* name, bool absent) {
        const Json* const flag = value.is_object() ? find(value, name) : nullptr;
        if (flag != nullptr && !flag->is_boolean()) wrong();
        return flag == nullptr ? absent : flag->get<bool>();
    };
    token.special = flag_of("special", special);
    token.single_word = flag_of("single_word", false);
    token.lstrip = flag_of("lstrip", false);
    token.rstrip = flag_of("rstrip", false);
    token.normalized = flag_of("normalized", !token.special);
    return token;
}

std::optional<AddedToken> TokenizerFiles::role(const std::string& name) const {
    const Json* const earlier = reads_earlier_files() ? find(special_map_, name) : nullptr;
    const Json* const value = earlier != nullptr ? earlier : find(config_, name);
    if (value == nullptr) return std::nullopt;
    const bool is_text = value->is_string();
    AddedToken token = token_of(*value, earlier != nullptr ? map_name : config_name, name, is_text || earlier != nullptr);
    token.special = true;
    return token;
}

bool TokenizerFiles::gives_flags(const std::string& name) const {
    const Json* const earlier = reads_earlier_files() ? find(special_map_, name) : nullptr;
    const Json* const value = earlier != nullptr ? earlier : find(config_, name);
    return value != nullptr && value->is_object();
}

bool TokenizerFiles::lists_further_tokens() const {
    const auto has_list = [](const Json& object) {
        return std::ranges::any_of(further_lists, [&](const char* name) {
            const Json* const list = find(object, name);
            return list != nullptr && list->is_array();
        });
    };
    return has_list(config_) || (reads_earlier_files() && has_list(special_map_));
}

void TokenizerFiles::add_decoder(std::vector<DeclaredToken>& tokens) const {
    const Json& decoder = config_.at("added_tokens_decoder");
    if (!decoder.is_object()) refuse(config_name, "added_tokens_decoder is no object");
    std::map<std::int64_t, AddedToken> by_id;
    for (const auto& [key, value] : decoder.items()) {
        std::int64_t id = -1;
        const auto [end, failure] = std::from_chars(key.data(), key.data() + key.size(), id);
        if (failure != std::errc{} || end != key.data() + key.size() || id < 0)
            refuse(config_name, concat("added_tokens_decoder has the key \"", key, "\", expected an id"));
        by_id[id] = token_of(value, config_name, concat("added_tokens_decoder.", key), false);
    }
    for (auto& [id, token] : by_id) tokens.push_back({token, id, config_name});
}

void TokenizerFiles::add_earlier(std::vector<DeclaredToken>& tokens, const std::vector<AddedToken>& of_definition) const {
    std::set<std::string> special;
    for (const std::string_view name : standard_roles)
        if (const auto token = role(std::string(name))) special.insert(token->content);
    for (const AddedToken& token : further_special()) special.insert(token.content);
    std::map<std::int64_t, DeclaredToken> by_id;
    for (const auto& [content, id] : added_.items()) {
        if (!id.is_number_integer() || content.empty())
            refuse(added_name, concat("gives \"", content, "\" the id ", shown(id), ", expected an integer"));
        AddedToken token{.content = content};
        token.special = special.contains(content);
        token.normalized = !token.special;
        by_id[id.get<std::int64_t>()] = {token, id.get<std::int64_t>(), added_name};
    }
    for (const AddedToken& token : of_definition) by_id[token.id] = {token, token.id, "tokenizer.json"};
    for (auto& [id, token] : by_id) tokens.push_back(std::move(token));
}

std::vector<AddedToken> TokenizerFiles::further_special() const {
    std::vector<AddedToken> tokens;
    const auto add = [&](const Json& object, const char* file) {
        for (const auto& [name, value] : object.items())
            if (is_further_role(name, value)) tokens.push_back(token_of(value, file, name, true));
        for (const char* name : further_lists) {
            const Json* const list = find(object, name);
            if (list == nullptr) continue;
            if (!list->is_structured()) refuse(file, concat(name, " is ", shown(*list), ", expected a list of tokens"));
            for (const Json& value : *list) tokens.push_back(token_of(value, file, name, true));
        }
    };
    add(config_, config_name);
    if (reads_earlier_files()) add(special_map_, map_name);
    return tokens;
}

std::vector<DeclaredToken> TokenizerFiles::added_tokens(
    const std::vector<AddedToken>& of_definition, const std::vector<std::pair<std::string, std::string>>& default_roles) const {
    std::vector<DeclaredToken> tokens;
    if (reads_earlier_files()) add_earlier(tokens, of_definition);
    else add_decoder(tokens);
    const auto add_new = [&](const AddedToken& token) {
        const auto same = [&](const DeclaredToken& other) { return other.token.content == token.content; };
        const auto known = std::ranges::find_if(tokens, same);
        if (known == tokens.end()) tokens.push_back({token, std::nullopt, config_name});
    };
    for (const std::string_view name : standard_roles) {
        const auto found = std::ranges::find(default_roles, name, [](const auto& pair) { return std::string_view(pair.first); });
        std::optional<AddedToken> token = role(std::string(name));
        if (!token && found != default_roles.end()) {
            token = AddedToken{.content = found->second};
            token->normalized = false;
            token->special = true;
        }
        if (token) add_new(*token);
    }
    for (const AddedToken& token : further_special()) add_new(token);
    return tokens;
}

}  // namespace bertpretrain
