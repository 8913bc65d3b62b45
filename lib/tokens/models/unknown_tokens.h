#pragma once
// Counts the tokens of a text that its vocabulary does not know, and says why that may be.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {

/// A share of unknown tokens above this is worth a warning. A vocabulary that fits its text leaves far less.
inline constexpr double few_unknown = 0.01;

struct UnknownTokens {
    std::int64_t tokens = 0;   ///< without [CLS], [SEP], [PAD] and [MASK]
    std::int64_t unknown = 0;  ///< those that are [UNK]
    std::string example;       ///< the beginning of the first text with an unknown token, safe to display

    double share() const { return tokens > 0 ? static_cast<double>(unknown) / static_cast<double>(tokens) : 0; }
    /// @param ids of `text`  @param specials of the vocabulary
    void add(std::span<const std::int32_t> ids, std::string_view text, const SpecialIds& specials);
    /// Adds the counts of later texts.
    void add(const UnknownTokens& later);
};

/// Returns whether almost all of the vocabulary's tokens are single letters, none of which continues a word.
bool has_letters_only(const Vocabulary& vocabulary);

/// Returns k where almost all of the vocabulary's tokens are k-mers: words of k > 1 letters of an alphabet of at most 26. 0 for
/// others.
std::size_t length_of_kmers(const Vocabulary& vocabulary);

/// Returns the likely cause of many unknown tokens, and the way out.
std::string cause_of_unknown(const Vocabulary& vocabulary);

/// Returns what to warn of where a model reads more than few_unknown of a text's tokens as [UNK]; nullopt where it does not.
std::optional<std::string> warning_of_unknown(const UnknownTokens& found, const Vocabulary& vocabulary);

}  // namespace bertpretrain
