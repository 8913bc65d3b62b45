#pragma once
// Which library multiplies bf16 matrices on a CPU, for each product of a Linear layer. Libraries round differently, so a run
// keeps its choice.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace bertpretrain {

enum class MatmulLibrary {
    onednn,  ///< as at::mm does it
    mkl,     ///< cblas_gemm_bf16bf16f32: its result is fp32
    amx,     ///< our own (cpu/amx_matmul.h)
};

enum class LinearMatmul { forward, input_gradient, weight_gradient };

/// Rows of x are not part of it: their number changes with the lengths of sequences.
struct LinearShape {
    LinearMatmul product = LinearMatmul::forward;
    std::int64_t outputs = 0, inputs = 0;

    auto operator<=>(const LinearShape&) const = default;
};

/// What is not in it is oneDNN's.
using MatmulLibraries = std::map<LinearShape, MatmulLibrary>;

/// "onednn", "mkl", "tiles".
std::string_view name_of(MatmulLibrary library);
/// @throws std::invalid_argument where there is no such name
MatmulLibrary matmul_library_of(std::string_view name);

/// As a checkpoint keeps a shape: "weight_gradient 4096x1024".
std::string name_of(const LinearShape& shape);
/// @throws std::invalid_argument where there is no such name
LinearShape linear_shape_of(std::string_view name);

/// Whether this process can multiply by it: this libtorch may lack MKL's product, and the processor tiles.
bool has(MatmulLibrary library);
/// Whether this process multiplies bf16 on the CPU as such, not widened to fp32: whether there is anything to choose.
bool has_bf16_matmul();

/// Whether another than oneDNN may be the faster one here: where there is AMX. Without it MKL was half as fast, and where that
/// is known, runs need not depend on a clock.
bool may_others_be_faster();

/// From now on all products of this process are made so; by oneDNN what is not to be had.
void use_matmul_libraries(const MatmulLibraries& libraries);

/// Whose the shape's product is.
MatmulLibrary matmul_library(const LinearShape& shape);

}  // namespace bertpretrain
