#include "text/sentence_rules.h"

#include <memory>

#include "core/error.h"
#include "core/log.h"
#include "text/punkt.h"
#include "text/punkt_training.h"
#include "text/sentences.h"

namespace bertpretrain {

SplitSentences choose_splitter(const SentenceRules& rules, const std::function<std::vector<std::string>()>& sample) {
    if (!rules.punkt && !rules.parameters)
        return [splitter = SentenceSplitter()](std::string_view paragraph) { return splitter.split(paragraph); };
    const auto parameters =
        std::make_shared<PunktParameters>(rules.parameters ? PunktParameters::read(*rules.parameters) : learn_punkt(sample()));
    if (!rules.parameters)
        log_info(concat("punkt learned ", parameters->abbreviations.size(), " abbreviations, ", parameters->collocations.size(),
                        " collocations, ", parameters->sentence_starters.size(), " sentence starters"));
    return [parameters](std::string_view paragraph) { return punkt_sentences(*parameters, paragraph); };
}

}  // namespace bertpretrain
