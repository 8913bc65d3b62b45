#pragma once
// The operations of a training step, each ready to be timed by itself.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "kernels/interface/function_table.h"

namespace bertpretrain::benchmark {

/// The model, and the sequences of a pass.
struct StepShape {
    at::Device device = at::kCPU;
    std::int64_t layers = 24, hidden = 1024, heads = 16, intermediate = 4096, vocabulary = 30528;
    std::int64_t sequences = 16, length = 128, masked = 20;  ///< masked positions of each sequence
    /// Of ModernBERT: every n-th layer is global, the others attend to `window` tokens on each side. 0: a BERT.
    std::int64_t global_every = 0, window = 64;

    bool is_modern() const { return global_every > 0; }
};

struct Part {
    std::string name;
    double calls = 1;             ///< per step
    double flops = 0, bytes = 0;  ///< per call: FLOPs of a matmul, or bytes read and written by another operation
    std::function<void(std::size_t)>
        run;                 ///< the argument selects one of several sets of operands, so that none stays in a cache
    std::string group = {};  ///< "products", "attention", ...
};
constexpr std::size_t operand_sets = 4;

/// Returns the matmuls of every shape: the forward's, and both of the backward.
std::vector<Part> product_parts(const StepShape& shape);
/// Returns the fused operations of a BERT's pass, with dropout, and those of a ModernBERT's, without.
std::vector<Part> bert_parts(const StepShape& shape);
std::vector<Part> modern_parts(const StepShape& shape);
/// Returns the parts that both have: the loss, the embeddings' gradient, and the optimizer's update.
std::vector<Part> shared_parts(const StepShape& shape);

/// Attention by one kernel set: a forward, or a backward.
using AttentionOf = std::function<void(const FunctionTable&, std::size_t set)>;
/// Returns the attention of Hopper's warpgroups, of which a step has none unless it asks for them;
/// nothing on other devices, and at lengths that they leave to the usual kernels.
std::vector<Part> warpgroup_parts(const StepShape& shape, double forward_flops, const AttentionOf& forward, const AttentionOf& backward);

/// A matmul on the CPU, with the same operands by the program, by torch's mm alone (oneDNN), and by MKL's bf16 x bf16 -> fp32.
struct MatmulCandidates {
    std::string name;
    double flops = 0;
    std::function<void(std::size_t)> ours, onednn, mkl;
};
std::vector<MatmulCandidates> matmul_candidates(const StepShape& shape);

}  // namespace bertpretrain::benchmark
