#pragma once
// Selects the method that splits paragraphs into sentences.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/task_pool.h"

namespace bertpretrain {

/// Returns the sentences of a paragraph, in order. Thread-safe.
using SplitSentences = std::function<std::vector<std::string>(std::string_view paragraph)>;

struct SentenceRules {
    bool punkt = false;                               ///< use Punkt instead of our own rules for English
    std::optional<std::filesystem::path> parameters;  ///< folder of Punkt's parameters; without it, Punkt learns from the text
    bool none = false;                                ///< keep each line of a text, and each paragraph of an article, as it is
};

/// Size of the text that Punkt learns from. With more text, the result hardly changes.
constexpr std::size_t punkt_learning_bytes = std::size_t{64} << 20;

/// Whether the rules need learned_splitter() instead of splitter_for().
inline bool learns_first(const SentenceRules& rules) { return rules.punkt && !rules.parameters && !rules.none; }

/// Returns the splitter for rules that need no learning. @throws ConfigError, DataError like PunktParameters::read()
SplitSentences splitter_for(const SentenceRules& rules);

/// Returns a Punkt splitter whose parameters are learned from `articles`, a sample of the corpus with one paragraph per line. The
/// full stops of scripts that have their own always end a sentence too (sentence_stops.h), which NLTK's Punkt does not know.
/// @param pool reads the articles in parallel
SplitSentences learned_splitter(const std::vector<std::string_view>& articles, TaskPool& pool);

}  // namespace bertpretrain
