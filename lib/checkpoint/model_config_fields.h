#pragma once
// The fields of a Hugging Face config.json of model_type bert or megatron-bert.

#include <span>

#include "config/foreign_fields.h"

namespace bertpretrain {

/// The fields that are known, with their effects.
std::span<const ForeignField> model_config_fields();

}  // namespace bertpretrain
