#pragma once
// Plans how the weights of a smaller model fill a larger one of the same architecture.

#include "checkpoint/import_plan.h"

namespace bertpretrain {

/// Plans what ModernBERT-large began with (arXiv 2412.13663, from ModernBERT-base). Of S layers, layer round(i S / L) becomes
/// layer i of L. A matrix stands in the centre of the larger one, which its repetitions fill: row (and column) i of N is row (i -
/// floor((N - n) / 2)) mod n of n. Matrices that one tensor holds (ParameterSpec::row_blocks) are each filled by themselves. Rows
/// of words and positions keep their places.
/// @param smaller the model of the files, which they describe  @param choices as in plan_import()
/// @throws ConfigError naming the setting for a model that is smaller than the files' in one of its sizes, or has heads of
/// another size; and as plan_import() for files that do not fit `smaller`
ImportPlan plan_tiled_import(const WeightFiles& files, const ModelConfig& smaller, const ModelConfig& model,
                             const ImportChoices& choices);

}  // namespace bertpretrain
