#pragma once
// Reads the normalizer and the pre-tokenizer of a tokenizer.json.

#include <optional>
#include <vector>

#include "tokens/definition/json_part.h"
#include "tokens/definition/tokenizer_definition.h"

namespace bertpretrain {

/// Returns the normalizer's steps. @param part nullopt: the section is null  @throws DataError for steps that are not supported
std::vector<Normalization> read_normalizations(const std::optional<JsonPart>& part);

/// What a pre-tokenizer does.
struct PreTokenizer {
    std::vector<SplitStep> steps;
    bool is_byte_level = false;  ///< whether ByteLevel is the last step, so that the model's tokens spell bytes
};

/// Reads the pre-tokenizer. @param part nullopt: the section is null, and text is one word
/// @throws DataError for steps that are not supported
PreTokenizer read_pre_tokenizer(const std::optional<JsonPart>& part);

/// Returns the casing of text that is or is not lowered and stripped of accents.
Casing casing_for(bool lowers, bool strips_accents);

}  // namespace bertpretrain
