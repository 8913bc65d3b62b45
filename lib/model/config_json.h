#pragma once
// The fields of transformers' config.json that mean the same for every architecture.

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "config/foreign_fields.h"

namespace bertpretrain {

/// Checks the fields that every config.json may have, and those of its model_type.
/// @param of_type  fields of the architecture alone; they stand for those of all with the same name @param file named in messages
/// @throws CheckpointError for a field that changes what is computed and is not supported
void check_config_json(const nlohmann::json& config, std::span<const ForeignField> of_type, const std::string& file);

}  // namespace bertpretrain
