#pragma once
// What BERT costs: operations, memory, and the shapes of its matmuls. The contracts are in model/architecture.h.

#include <cstdint>
#include <vector>

#include "kernels/matmul_libraries.h"
#include "model/activation_shape.h"
#include "model/bert/config.h"
#include "model/model.h"

namespace bertpretrain {

ModelShape shape_of(const BertConfig& config);
double model_flops(const BertConfig& config, double tokens, double square_lengths, double masked, double sequences);
std::vector<double> stage_shares(const BertConfig& config, double tokens_per_sequence, double masked_per_sequence);
/// What the layers keep for their backward (bert::LayerState), plus the larger of the temporary memory of the MLM head and of the
/// last layer's backward.
std::uint64_t activation_bytes(const BertConfig& config, const ActivationShape& shape);
std::vector<LinearShape> matmuls_of(const BertConfig& config);

}  // namespace bertpretrain
