#pragma once
// Which of the ways to split paragraphs into sentences is taken.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/task_pool.h"

namespace bertpretrain {

/// The sentences of a paragraph, in order. May be called by many threads at once.
using SplitSentences = std::function<std::vector<std::string>(std::string_view paragraph)>;

struct SentenceRules {
    bool punkt = false;                               ///< the Punkt algorithm; else our own rules for English
    std::optional<std::filesystem::path> parameters;  ///< Punkt's; without them it learns from the text at hand
};

/// How much text Punkt learns from: beyond that, what it learns hardly changes.
constexpr std::size_t punkt_learning_bytes = std::size_t{64} << 20;

/// Whether the rules ask for learned_splitter().
inline bool learns_first(const SentenceRules& rules) { return rules.punkt && !rules.parameters; }

/// @throws ConfigError, DataError as PunktParameters::read
SplitSentences splitter_for(const SentenceRules& rules);

/// Punkt with parameters learned from the corpus. @param articles a sample of it, one paragraph per line @param pool helps
SplitSentences learned_splitter(const std::vector<std::string_view>& articles, TaskPool& pool);

}  // namespace bertpretrain
