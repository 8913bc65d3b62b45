#pragma once
// The fields of a Hugging Face tokenizer_config.json.

#include <span>

#include "config/foreign_fields.h"

namespace bertpretrain {

/// The fields that are known, with their effects.
std::span<const ForeignField> tokenizer_config_fields();

}  // namespace bertpretrain
