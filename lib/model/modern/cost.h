#pragma once
// What a modern encoder costs: operations, memory, and the shapes of its matmuls. The contracts are in model/architecture.h.

#include <cstdint>
#include <vector>

#include "kernels/matmul_libraries.h"
#include "model/activation_shape.h"
#include "model/model.h"
#include "model/modern/design.h"

namespace bertpretrain::modern {

ModelShape shape_of(const Design& design);
/// A local layer's attention counts the keys of a whole window for each token, or of the sequence where that is shorter.
double model_flops(const Design& design, double tokens, double square_lengths, double masked, double sequences);
std::vector<double> stage_shares(const Design& design, double tokens_per_sequence, double masked_per_sequence);
/// What the layers keep for their backward (LayerState), plus the larger of the temporary memory of the MLM head and of
/// the last layer's backward.
std::uint64_t activation_bytes(const Design& design, const ActivationShape& shape);
std::vector<LinearShape> matmuls_of(const Design& design);

}  // namespace bertpretrain::modern
