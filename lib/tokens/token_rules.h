#pragma once
// Three tokenizers that agree on ordinary text, and where they differ.

#include <string_view>

namespace bertpretrain {

/// Whose rules: |                         | huggingface       | google            | nvidia                       |
///              | private use             | dropped           | kept              | dropped                      |
///              | unassigned              | kept              | kept              | dropped                      |
///              | ideographs from         | U+2B920           | U+2B820           | U+2B820                      |
///              | capital sigma at an end | like any other    | final sigma       | final sigma                  |
///              | "[MASK]" and the like   | special anywhere  | brackets and text | special when a word by itself|
///              | longest word            | 100 characters    | 200               | 100                          |
/// Sources: tokenizers 0.23 (normalizers/bert.rs, models/wordpiece), google-research/bert tokenization.py, NVIDIA
/// DeepLearningExamples tokenization.py.
enum class TokenRules { huggingface, google, nvidia };

/// @param name one of the three, as settings and commands spell them; anything else counts as huggingface
inline TokenRules token_rules_named(std::string_view name) {
    return name == "google" ? TokenRules::google : name == "nvidia" ? TokenRules::nvidia : TokenRules::huggingface;
}

}  // namespace bertpretrain
