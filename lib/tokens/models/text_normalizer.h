#pragma once
// The steps that a tokenizer.json applies to text before it is split.

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tokens/definition/split_pattern.h"
#include "tokens/definition/tokenizer_definition.h"

namespace bertpretrain {

/// ReplacedMatches, compiled.
struct CompiledMatches {
    SplitPattern pattern;
    std::string replacement;
};

/// Immutable, so thread-safe.
class TextNormalizer {
public:
    /// @param where begins messages  @throws DataError for a regular expression that is not supported
    TextNormalizer(const std::vector<Normalization>& steps, const std::string& where);

    /// Returns the normalized text: `text` itself if no step changes it, otherwise a view of `memory`.
    /// @param text valid UTF-8
    std::string_view apply(std::string_view text, std::string& memory) const;

private:
    using Step = std::variant<std::shared_ptr<const UnicodeNormalizer>, LowerCase, StrippedMarks, ReplacedText, PrependedText,
                              std::shared_ptr<const CompiledMatches>, StrippedEnds, BertNormalization,
                              std::shared_ptr<const PrecompiledMap>>;
    std::vector<Step> steps_;
};

}  // namespace bertpretrain
