#pragma once
// What a modern encoder costs: operations, memory, and the shapes of its matmuls. The contracts are in model/architecture.h.

#include <cstdint>
#include <vector>

#include "kernels/matmul_libraries.h"
#include "model/activation_shape.h"
#include "model/model.h"
#include "model/modern/modernbert_config.h"

namespace bertpretrain {

ModelShape shape_of(const ModernBertConfig& config);
/// A local layer's attention counts the keys of a whole window for each token, or of the sequence where that is shorter.
double model_flops(const ModernBertConfig& config, double tokens, double square_lengths, double masked, double sequences);
std::vector<double> stage_shares(const ModernBertConfig& config, double tokens_per_sequence, double masked_per_sequence);
/// What the layers keep for their backward (modern::LayerState), plus the larger of the temporary memory of the MLM head and of
/// the last layer's backward.
std::uint64_t activation_bytes(const ModernBertConfig& config, const ActivationShape& shape);
std::vector<LinearShape> matmuls_of(const ModernBertConfig& config);

}  // namespace bertpretrain
