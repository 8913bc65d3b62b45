#pragma once
// A kernel set: all kernels of one implementation.

#include <cstdint>
#include <string>

#include "kernels/interface/function_table.h"
#include "kernels/interface/optimizer_kernels.h"

namespace bertpretrain {

/// A factor of an fp8 matmul, with its numbers along the sum: Fp8Operand's rows or columns.
struct Fp8Factor {
    at::Tensor numbers_MK, inverse_scale_1;
};

/// The matmuls of a device that has several implementations of them; null: matmul.h chooses.
struct MatmulFunctions {
    at::Tensor (*gemm)(const at::Tensor& a_MK, const at::Tensor& b_KN) = nullptr;
    void (*add_weight_gradient)(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& d_weight_OI,
                                bool accumulate) = nullptr;
    /// a_MK b_NK^T of fp8 numbers times both inverse scales, in `type`, bf16 or fp32. M, N and K are multiples of 16.
    /// @param is_fast whether some bits of the sum may be dropped, as tensor cores do when they are not told otherwise
    at::Tensor (*fp8_gemm)(const Fp8Factor& a_MK, const Fp8Factor& b_NK, at::ScalarType type, bool is_fast) = nullptr;
};

/// Returns whether attention draws its dropout masks from the counters of dropout.h.
/// @param longest longest sequence of the batch
using CountsDropout = bool(std::int64_t longest, std::int64_t head_size, at::ScalarType compute_dtype);

/// The name of the set whose attention uses the matrix instructions of Hopper's warpgroups.
inline constexpr const char* kernels_of_warpgroups = "warpgroups";

struct KernelSet {
    std::string name;  ///< as printed in tables and stored in checkpoints: "cuda", "reference"
    FunctionTable functions;
    const OptimizerKernels* optimizer = nullptr;
    MatmulFunctions matmul;
    /// Whether attention uses counter-based dropout; null: always.
    CountsDropout* counts_dropout = nullptr;
    bool only_if_asked = false;  ///< whether it is proven and used only where a run asks for it by name
};

}  // namespace bertpretrain
