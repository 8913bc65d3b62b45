#include "text/sentences/sentence_rules.h"

#include <memory>

#include "core/error.h"
#include "core/output/log.h"
#include "text/sentences/punkt.h"
#include "text/sentences/punkt_training.h"
#include "text/sentences/sentence_stops.h"
#include "text/sentences/sentences.h"

namespace bertpretrain {
namespace {

SplitSentences punkt_splitter(PunktParameters learned) {
    return [parameters = std::make_shared<const PunktParameters>(std::move(learned))](std::string_view paragraph) {
        return punkt_sentences(*parameters, paragraph);
    };
}

}  // namespace

SplitSentences splitter_for(const SentenceRules& rules) {
    if (rules.parameters) return punkt_splitter(PunktParameters::read(*rules.parameters));
    check(!rules.punkt, "Punkt without parameters needs learned_splitter()");
    return [splitter = std::make_shared<const SentenceSplitter>()](std::string_view paragraph) {
        return splitter->split(paragraph);
    };
}

SplitSentences learned_splitter(const std::vector<std::string_view>& articles, TaskPool& pool) {
    PunktParameters learned = learn_punkt(articles, pool);
    log_info(concat("punkt learned ", learned.abbreviations.size(), " abbreviations, ", learned.collocations.size(),
                    " collocations, ", learned.sentence_starters.size(), " sentence starters"));
    // Punkt knows only the period, the question mark and the exclamation mark.
    return [punkt = punkt_splitter(std::move(learned))](std::string_view paragraph) {
        std::vector<std::string> sentences;
        for_each_surely_ended(paragraph, [&](std::string_view part) {
            for (std::string& sentence : punkt(part)) sentences.push_back(std::move(sentence));
        });
        return sentences;
    };
}

}  // namespace bertpretrain
