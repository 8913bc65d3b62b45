#pragma once
// The tokenizer that belongs to a model.

#include "inference/loaded_model.h"
#include "tokens/wordpiece.h"

namespace bertpretrain {

/// Returns the casing that the model records, else that of its vocabulary (choose_casing()).
/// @param wants_cased whether cased text is asked for
/// @throws ConfigError if cased text is asked for, but the model or its vocabulary is uncased
Casing casing_of(const LoadedModel& model, const Vocabulary& vocabulary, bool wants_cased);

/// @param wants_cased as in casing_of()
/// @throws ConfigError like casing_of(), and if the model has no vocab.txt, or its vocabulary has more tokens than the model
WordPiece tokenizer_of(const LoadedModel& model, bool wants_cased);

}  // namespace bertpretrain
