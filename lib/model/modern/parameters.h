#pragma once
// The parameter tables of the modern encoders.

#include "model/modern/design.h"
#include "model/parameter_table.h"

namespace bertpretrain::modern {

/// The names are those of transformers' ModernBertForMaskedLM, for NeoBERT too, whose own names stand for rows in another order.
/// Stages are those of layered_model.h.
ModelParameters parameters_of(const Design& design);

}  // namespace bertpretrain::modern
