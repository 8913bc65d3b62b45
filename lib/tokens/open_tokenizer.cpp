#include "tokens/open_tokenizer.h"

#include <utility>

#include "core/error.h"
#include "core/files.h"
#include "tokens/pipeline_tokenizer.h"
#include "tokens/tokenizer_json.h"
#include "tokens/vocabulary_casing.h"
#include "tokens/wordpiece.h"

namespace bertpretrain {

std::shared_ptr<const Tokenizer> open_tokenizer(const std::filesystem::path& file, bool cased, std::optional<TokenRules> rules) {
    const std::string content = read_file(file), where = file.string();
    if (!is_tokenizer_json(content)) {
        auto vocabulary = std::make_shared<const Vocabulary>(Vocabulary::parse(content, where));
        const Casing casing = choose_casing(*vocabulary, file, cased);
        return std::make_shared<const WordPiece>(std::move(vocabulary), casing, rules.value_or(TokenRules::huggingface));
    }
    if (cased || rules)
        throw ConfigError(concat(cased ? "--cased" : "--rules", " applies to a vocabulary file with one token per line, but ",
                                 where, " is a tokenizer.json, which has its own rules\n  do: leave the option out"));
    const TokenizerDefinition definition = read_tokenizer_json(content, where);
    auto vocabulary = std::make_shared<const Vocabulary>(definition, where);
    return std::make_shared<const PipelineTokenizer>(definition, std::move(vocabulary), where);
}

}  // namespace bertpretrain
