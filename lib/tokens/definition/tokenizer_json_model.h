#pragma once
// Reads the model of a tokenizer.json, with the steps before it.

#include <cstdint>

#include "tokens/definition/json_part.h"
#include "tokens/definition/tokenizer_definition.h"

namespace bertpretrain {

/// Ids are below this.
inline constexpr std::int64_t most_token_ids = 100'000'000;

/// Reads the members `model`, `normalizer` and `pre_tokenizer`. @param file the whole tokenizer.json
/// @param definition gets the model and its tokens  @throws DataError for anything that is not supported
void read_model(const JsonPart& file, TokenizerDefinition& definition);

}  // namespace bertpretrain
