#pragma once
// The types by which a self-proof describes what it compares.

#include <functional>
#include <string>
#include <vector>

#include "kernels/interface/kernel_set.h"

namespace bertpretrain {

/// The model dimensions and the precision of a run.
struct ProofShape {
    std::int64_t hidden = 1024, intermediate = 4096, heads = 16, vocabulary = 30528, longest_sequence = 128;
    Activation activation = Activation::gelu_erf;
    at::ScalarType compute_dtype = at::kBFloat16;
    bool is_gated = false, is_rotary = false;  ///< whether the model has gated activations and rotary positions
    std::int64_t window = 0;                   ///< of attention in some layers; 0: in none
    at::ScalarType residual_dtype = at::kFloat;
    bool fp8_matmuls = false;
};

/// One result of an operation and its maximum relative error; an undefined tensor is a result too.
struct ProofResult {
    std::string name;
    at::Tensor value;
    double bound = 0;
};
/// Computes an operation with the kernels of a set. Does not change its inputs.
using ProofComputation = std::function<std::vector<ProofResult>(const KernelSet&)>;

/// One way to call an operation.
struct ProofCase {
    std::string name;  ///< "with dropout"; empty if the operation has only one case
    std::function<ProofComputation(at::Device, const ProofShape&, const std::vector<std::int64_t>& lengths)> prepare;
    /// Whether the case applies to a set; null: to all sets.
    std::function<bool(const KernelSet&, const ProofShape&)> applies = nullptr;
    /// Whether models of this shape compute it; null: all do.
    std::function<bool(const ProofShape&)> is_of = nullptr;
};

/// Kernels that must come from the same set, because a backward reads what its own forward saved.
struct ProofOperation {
    std::string name;
    std::function<bool(const KernelSet&, const KernelSet&)> same;    ///< whether two sets have the same kernels for it
    std::function<void(KernelSet& to, const KernelSet& from)> take;  ///< copies them
    std::vector<ProofCase> cases;                                    ///< the first one that the model has is timed
};

}  // namespace bertpretrain
