#pragma once
// Which tokens pad, mask, and stand at a text's start and end.

#include <optional>

#include "tokens/json_part.h"
#include "tokens/tokenizer_definition.h"

namespace bertpretrain {

/// Returns the roles: the tokens that the post-processor puts at a text's start (cls) and end (sep), then the usual names among
/// the added tokens and the model's, e.g. "<mask>" or "[MASK]"; unk is the model's own.
/// @param post_processor nullopt: there is none  @throws DataError for a post-processor that is not supported
TokenRoles token_roles(const TokenizerDefinition& definition, const std::optional<JsonPart>& post_processor);

}  // namespace bertpretrain
