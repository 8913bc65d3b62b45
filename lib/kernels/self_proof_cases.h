#pragma once
// The operations that a self-proof compares with the reference, with inputs like those of a training run.

#include <vector>

#include "kernels/proof_operation.h"

namespace bertpretrain {

/// Returns all operations. Random inputs are the same in each call.
const std::vector<ProofOperation>& proof_operations();

}  // namespace bertpretrain
