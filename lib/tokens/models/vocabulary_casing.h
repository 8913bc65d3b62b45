#pragma once
// Whether a vocabulary is made for text with or without case and accents, read from its tokens.

#include <cstdint>
#include <filesystem>
#include <string>

#include "tokens/unicode/character_table.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {

/// Counts of a vocabulary's ordinary tokens: without those in square brackets ("[CLS]", "[unused7]").
struct TokenCasing {
    std::int64_t tokens = 0;
    std::int64_t cased_only = 0;  ///< tokens that text without case and accents never gives: "The", "##é"
    std::int64_t capitals = 0;    ///< of these: tokens with an upper-case letter
    std::int64_t letters = 0;     ///< tokens with a letter that has a case, such as "the" or "ж", but not "हिन्दी"

    /// Whether at least 5 % of the tokens have capitals. Of BERT's published vocabularies, 29 % (cased) and none (uncased) do.
    bool is_cased() const;
    /// Whether at least 5 % of the tokens have letters, and fewer than 0.5 % are cased_only. A vocabulary of a language without
    /// capitals (Hindi, Chinese) is neither cased nor uncased by these rules.
    bool is_uncased() const;
};

TokenCasing casing_of(const Vocabulary& vocabulary);

/// Returns how to read text for a vocabulary: as a file beside it records (vocabulary_record.h); else cased if it is asked for or
/// if the vocabulary is cased. Warns if the text is read without case, but at least 5 % of the tokens are cased_only. The other
/// kinds of files have their own casing.
/// @param file the vocabulary's, where its record is looked for
/// @throws ConfigError if cased text is asked for, but the vocabulary is uncased or has its own rules
Casing choose_casing(const Vocabulary& vocabulary, const std::filesystem::path& file, bool wants_cased);

/// @throws ConfigError always: `option` is for a list of tokens, and `file` is of another kind
[[noreturn]] void refuse_for_own_rules(const std::string& option, const std::filesystem::path& file, TokenizerKind kind);

/// "cased" or "uncased", as manifests and checkpoints record it.
std::string casing_name(Casing casing);

}  // namespace bertpretrain
