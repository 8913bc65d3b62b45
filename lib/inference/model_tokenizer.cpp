#include "inference/model_tokenizer.h"

#include "core/error.h"

namespace bertpretrain {

WordPiece tokenizer_of(const LoadedModel& model, bool cased) {
    if (model.vocabulary.empty())
        throw ConfigError(concat(model.folder.string(), ": has no vocab.txt, which is needed to tokenize text"));
    auto vocabulary = std::make_shared<const Vocabulary>(Vocabulary::read(model.vocabulary));
    if (vocabulary->size() > model.config.vocab_size)
        throw ConfigError(concat(model.vocabulary.string(), ": has ", vocabulary->size(), " tokens, but the model has ",
                                 model.config.vocab_size));
    return {std::move(vocabulary), cased || model.cased ? Casing::cased : Casing::uncased};
}

}  // namespace bertpretrain
