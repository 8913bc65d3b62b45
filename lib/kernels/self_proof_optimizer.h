#pragma once
// The self-proof's case for the optimizer kernels.

#include "kernels/self_proof_inputs.h"

namespace bertpretrain {

/// Prepares one step of AdamW, LAMB, LANS and StableAdamW, each from the same state.
ProofComputation optimizer_computation(ProofInputs in);

}  // namespace bertpretrain
