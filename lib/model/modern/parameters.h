#pragma once
// The parameter tables of the modern encoders.

#include "model/modern/modernbert_config.h"
#include "model/parameter_table.h"

namespace bertpretrain {

/// The names of transformers' ModernBertForMaskedLM. Stages are those of layered_model.h.
ModelParameters parameters_of(const ModernBertConfig& config);

}  // namespace bertpretrain
