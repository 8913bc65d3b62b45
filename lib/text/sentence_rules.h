#pragma once
// Which of the ways to split paragraphs into sentences is taken.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// The sentences of a paragraph, in order.
using SplitSentences = std::function<std::vector<std::string>(std::string_view paragraph)>;

struct SentenceRules {
    bool punkt = false;                               ///< the Punkt algorithm; else our own rules for English
    std::optional<std::filesystem::path> parameters;  ///< Punkt's; without them it learns from the text at hand
};

/// How much text Punkt learns from: beyond that, what it learns hardly changes.
constexpr std::size_t punkt_learning_bytes = std::size_t{64} << 20;

/// @param sample paragraphs of the corpus, an empty line behind each article; asked for only when Punkt has to learn
/// @throws ConfigError, DataError as PunktParameters::read
SplitSentences choose_splitter(const SentenceRules& rules, const std::function<std::vector<std::string>()>& sample);

}  // namespace bertpretrain
