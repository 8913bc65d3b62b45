#include "tokens/models/open_tokenizer.h"

#include <functional>
#include <utility>

#include "tokens/definition/read_definition.h"
#include "tokens/models/pipeline_tokenizer.h"
#include "tokens/models/vocabulary_casing.h"
#include "tokens/models/wordpiece.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace {

/// @param casing_of_tokens returns the casing of a vocabulary file's tokens
std::shared_ptr<const Tokenizer> tokenizer_in(const std::filesystem::path& file, std::optional<TokenRules> rules, bool cased,
                                              const std::function<Casing(const Vocabulary&)>& casing_of_tokens) {
    const std::string content = read_tokenizer_file(file), where = file.string();
    const std::optional<TokenizerDefinition> definition = read_definition(content, where);
    if (!definition) {
        auto vocabulary = std::make_shared<const Vocabulary>(Vocabulary::parse(content, where));
        const Casing casing = casing_of_tokens(*vocabulary);
        return std::make_shared<const WordPiece>(std::move(vocabulary), casing, rules.value_or(TokenRules::huggingface));
    }
    if (cased || rules) refuse_for_own_rules(cased ? "--cased" : "--rules", file, definition->kind());
    auto vocabulary = std::make_shared<const Vocabulary>(*definition, where);
    return std::make_shared<const PipelineTokenizer>(*definition, std::move(vocabulary), where);
}

}  // namespace

std::shared_ptr<const Tokenizer> open_tokenizer(const std::filesystem::path& file, bool cased, std::optional<TokenRules> rules) {
    return tokenizer_in(file, rules, cased, [&](const Vocabulary& vocabulary) { return choose_casing(vocabulary, file, cased); });
}

std::shared_ptr<const Tokenizer> open_tokenizer(const std::filesystem::path& file, Casing casing, TokenRules rules) {
    return tokenizer_in(file, rules == TokenRules::huggingface ? std::nullopt : std::optional(rules), false,
                        [&](const Vocabulary&) { return casing; });
}

}  // namespace bertpretrain
