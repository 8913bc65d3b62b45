#pragma once
// Chooses GPU kernels for inference.

#include "kernels/kernel_set.h"
#include "model/bert_config.h"

namespace bertpretrain {

/// Compares the GPU's kernels with plain ATen on that GPU, and uses for each operation the first kernel set that is correct. Logs
/// a warning for those that are not. Takes about a second; does nothing on a CPU, where there is nothing to choose.
/// @throws NumbersError when a kernel left the device in a state in which nothing runs any more
void use_proven_kernels(const BertConfig& model, std::int64_t longest_sequence, at::ScalarType compute_dtype, at::Device device);

}  // namespace bertpretrain
