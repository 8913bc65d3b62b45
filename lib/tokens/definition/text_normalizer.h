#pragma once
// The steps that a tokenizer.json applies to text before it is split.

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tokens/definition/tokenizer_definition.h"

namespace bertpretrain {

/// Immutable, so thread-safe.
class TextNormalizer {
public:
    explicit TextNormalizer(const std::vector<Normalization>& steps);

    /// Returns the normalized text: `text` itself if no step changes it, otherwise a view of `memory`.
    /// @param text valid UTF-8
    std::string_view apply(std::string_view text, std::string& memory) const;

private:
    using Step = std::variant<std::shared_ptr<const UnicodeNormalizer>, LowerCase, StrippedMarks, ReplacedText, PrependedText>;
    std::vector<Step> steps_;
};

}  // namespace bertpretrain
