#pragma once
// The tokenizer that belongs to a model.

#include "inference/loaded_model.h"
#include "tokens/wordpiece.h"

namespace bertpretrain {

/// @param cased keep case and accents, even if the model does not record that it does
/// @throws ConfigError if the model has no vocab.txt, or its vocabulary has more tokens than the model
WordPiece tokenizer_of(const LoadedModel& model, bool cased);

}  // namespace bertpretrain
