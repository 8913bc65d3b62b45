#include "inference/model_tokenizer.h"

#include "core/error.h"
#include "tokens/vocabulary_casing.h"

namespace bertpretrain {

Casing casing_of(const LoadedModel& model, const Vocabulary& vocabulary, bool wants_cased) {
    if (!model.casing) return choose_casing(vocabulary, model.vocabulary, wants_cased);
    if (wants_cased && *model.casing != Casing::cased)
        throw ConfigError(concat(model.folder.string(), ": its tokenizer is recorded as uncased, which --cased contradicts",
                                 "\n  do: omit --cased"));
    return *model.casing;
}

WordPiece tokenizer_of(const LoadedModel& model, bool wants_cased) {
    if (model.vocabulary.empty())
        throw ConfigError(concat(model.folder.string(), ": has no vocab.txt, which is needed to tokenize text"));
    auto vocabulary = std::make_shared<const Vocabulary>(Vocabulary::read(model.vocabulary));
    if (vocabulary->size() > model.config.vocab_size)
        throw ConfigError(concat(model.vocabulary.string(), ": has ", vocabulary->size(), " tokens, but the model has ",
                                 model.config.vocab_size));
    const Casing casing = casing_of(model, *vocabulary, wants_cased);
    return {std::move(vocabulary), casing};
}

}  // namespace bertpretrain
