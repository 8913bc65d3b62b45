#include "inference/model_tokenizer.h"

#include "core/error.h"
#include "tokens/open_tokenizer.h"
#include "tokens/vocabulary_casing.h"

namespace bertpretrain {

Casing casing_of(const LoadedModel& model, const Vocabulary& vocabulary, bool wants_cased) {
    if (!model.casing || vocabulary.has_own_rules()) return choose_casing(vocabulary, model.vocabulary, wants_cased);
    if (wants_cased && *model.casing != Casing::cased)
        throw ConfigError(concat(model.folder.string(), ": its tokenizer is recorded as uncased, which --cased contradicts",
                                 "\n  do: omit --cased"));
    return *model.casing;
}

std::shared_ptr<const Tokenizer> tokenizer_of(const LoadedModel& model, bool wants_cased) {
    if (model.vocabulary.empty())
        throw ConfigError(concat(model.folder.string(),
                                 ": has no vocab.txt, tokenizer.json or tokenizer.model, one of which is needed to tokenize ",
                                 "text"));
    const Vocabulary vocabulary = Vocabulary::read(model.vocabulary);
    if (vocabulary.require_specials().size() > model.config.vocab_size)
        throw ConfigError(concat(model.vocabulary.string(), ": has ", vocabulary.size(), " tokens, but the model has ",
                                 model.config.vocab_size));
    return open_tokenizer(model.vocabulary, casing_of(model, vocabulary, wants_cased));
}

}  // namespace bertpretrain
