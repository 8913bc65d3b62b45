#pragma once
// The tokenizer that belongs to a model.

#include <memory>

#include "inference/loaded_model.h"
#include "tokens/tokenizer.h"

namespace bertpretrain {

/// Returns the casing of a tokenizer with rules of its own, else the one that the model records, else that of its vocabulary
/// (choose_casing()).
/// @param wants_cased whether cased text is asked for
/// @throws ConfigError if cased text is asked for, but the model or its vocabulary is uncased, or the tokenizer has
/// rules of its own
Casing casing_of(const LoadedModel& model, const Vocabulary& vocabulary, bool wants_cased);

/// @param wants_cased as in casing_of()
/// @throws ConfigError like casing_of(), and if the model has no tokenizer, or one with more tokens than the model or without a
/// token for a role
std::shared_ptr<const Tokenizer> tokenizer_of(const LoadedModel& model, bool wants_cased);

}  // namespace bertpretrain
