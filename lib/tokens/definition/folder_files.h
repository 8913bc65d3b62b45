#pragma once
// The JSON files beside a tokenizer in a folder of Hugging Face, and the special and added tokens that they name.

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tokens/definition/tokenizer_definition.h"

namespace bertpretrain {

/// An added token, and the id that a file says it has.
struct DeclaredToken {
    AddedToken token;
    std::optional<std::int64_t> id;
    std::string file;  ///< for messages
};

/// The files' content; an object without members for a file that is missing.
class TokenizerFiles {
public:
    using Json = nlohmann::ordered_json;  // new tokens get their ids in the files' order

    /// @throws DataError naming the file that cannot be read, is damaged or holds a field that is refused
    explicit TokenizerFiles(std::filesystem::path folder);

    const std::filesystem::path& folder() const { return folder_; }
    const Json& config() const { return config_; }
    bool has_config() const { return has_config_; }

    /// Returns a field of tokenizer_config.json, or `absent` for null and a missing field. @throws DataError for another type
    bool flag(const char* name, bool absent) const;
    std::string text(const char* name, const std::string& absent) const;

    /// The class that transformers gives the tokenizer: that of the files, else for RoBERTa, XLM-R and CamemBERT that of
    /// config.json's model_type; "" for other models where no file names one.
    std::string tokenizer_class() const;
    /// Whether transformers reads a tokenizer.json as it stands and ignores the class that the files name. ModernBERT only.
    bool ignores_class() const;
    /// model_max_length, or its earlier name max_len; nullopt if there is none, or one beyond 10^9, which means none.
    std::optional<std::int64_t> max_length() const;
    /// Returns the token with a role, such as "mask_token": special_tokens_map.json's before tokenizer_config.json's, as
    /// transformers reads them. nullopt: none.
    std::optional<AddedToken> role(const std::string& name) const;

    /// Whether a file gives a role's token together with its flags, as an object.
    bool gives_flags(const std::string& name) const;

    /// Whether a file has a list of further special tokens.
    bool lists_further_tokens() const;

    /// Returns the added tokens in the order in which transformers adds them: those with ids (added_tokens_decoder, else
    /// added_tokens.json with `of_definition`), then those with a role, then further special ones.
    /// @param of_definition those of a tokenizer.json  @param roles the names of roles that have a token without being named
    std::vector<DeclaredToken> added_tokens(const std::vector<AddedToken>& of_definition,
                                            const std::vector<std::pair<std::string, std::string>>& default_roles) const;

    /// @throws DataError "FILE: MESSAGE"
    [[noreturn]] void refuse(const char* file, const std::string& message) const;

private:
    Json read(const char* name) const;
    std::string text_of_model(const char* name) const;
    bool reads_earlier_files() const { return !config_.contains("added_tokens_decoder"); }
    AddedToken token_of(const Json& value, const char* file, const std::string& field, bool special) const;
    void add_decoder(std::vector<DeclaredToken>& tokens) const;
    void add_earlier(std::vector<DeclaredToken>& tokens, const std::vector<AddedToken>& of_definition) const;
    std::vector<AddedToken> further_special() const;

    std::filesystem::path folder_;
    Json config_, special_map_, added_;
    bool has_config_ = false;
};

}  // namespace bertpretrain
