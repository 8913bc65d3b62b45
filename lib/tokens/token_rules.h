#pragma once
// The three tokenizers whose rules we can follow. They agree on ordinary text; the table lists the differences.

#include <string_view>

namespace bertpretrain {

/// Rules of:    |                         | huggingface       | google            | nvidia                       |
///              | private use             | dropped           | kept              | dropped                      |
///              | unassigned              | kept              | kept              | dropped                      |
///              | ideographs from         | U+2B920           | U+2B820           | U+2B820                      |
///              | word-final capital sigma| like any other    | final sigma       | final sigma                  |
///              | "[MASK]" and the like   | special anywhere  | ordinary text     | special if a separate word   |
///              | longest word            | 100 characters    | 200               | 100                          |
/// Sources: tokenizers 0.23 (normalizers/bert.rs, models/wordpiece), google-research/bert tokenization.py, NVIDIA
/// DeepLearningExamples tokenization.py.
enum class TokenRules { huggingface, google, nvidia };

/// @param name an enumerator's name, as in settings and options. Any other name returns huggingface.
inline TokenRules token_rules_named(std::string_view name) {
    return name == "google" ? TokenRules::google : name == "nvidia" ? TokenRules::nvidia : TokenRules::huggingface;
}

}  // namespace bertpretrain
