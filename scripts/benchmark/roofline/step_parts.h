#pragma once
// A training step taken apart: each operation that it is made of, ready to be timed by itself.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <c10/core/Device.h>

namespace bertpretrain::benchmark {

struct StepShape {
    at::Device device = at::kCPU;
    std::int64_t layers = 24, hidden = 1024, sequences = 16, length = 128, masked = 20, vocabulary = 30528;
};

struct Part {
    std::string name;
    double calls = 1;             ///< in a step
    double flops = 0, bytes = 0;  ///< of one call: of products, or of what has to pass through memory
    std::function<void(std::size_t)>
        run;                 ///< the argument chooses one of several sets of operands, so that none stays in a cache
    std::string group = {};  ///< "products", "attention", ...
};
constexpr std::size_t operand_sets = 4;

/// Products of every shape: forward, and both of the backward.
std::vector<Part> product_parts(const StepShape& shape);
/// The fused operations, the optimizer, and what else passes over memory.
std::vector<Part> other_parts(const StepShape& shape);

/// On the CPU: a product as the program does it, as torch's mm alone (oneDNN), and as MKL's bf16 x bf16 -> fp32; the same
/// operands.
struct MatmulCandidates {
    std::string name;
    double flops = 0;
    std::function<void(std::size_t)> ours, onednn, mkl;
};
std::vector<MatmulCandidates> matmul_candidates(const StepShape& shape);

}  // namespace bertpretrain::benchmark
