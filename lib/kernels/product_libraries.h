#pragma once
// Which library multiplies bf16 matrices on a CPU, for each product of a Linear layer. Libraries round differently, so a run
// keeps its choice.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace bertpretrain {

enum class ProductLibrary {
    onednn,  ///< as at::mm does it
    mkl,     ///< cblas_gemm_bf16bf16f32: its result is fp32
};

enum class LinearProduct { forward, input_gradient, weight_gradient };

/// Rows of x are not part of it: their number changes with the lengths of sequences.
struct LinearShape {
    LinearProduct product = LinearProduct::forward;
    std::int64_t outputs = 0, inputs = 0;

    auto operator<=>(const LinearShape&) const = default;
};

/// What is not in it is oneDNN's.
using ProductLibraries = std::map<LinearShape, ProductLibrary>;

std::string_view name_of(ProductLibrary library);

/// As a checkpoint keeps a shape: "weight_gradient 4096x1024".
std::string name_of(const LinearShape& shape);
/// @throws std::invalid_argument where there is no such name
LinearShape linear_shape_of(std::string_view name);

/// Whether this libtorch has MKL's product.
bool has_mkl_products();
/// Whether this process multiplies bf16 on the CPU as such, not widened to fp32: whether there is anything to choose.
bool has_bf16_products();

/// Whether MKL's may be faster here: where there are tiles. Without them it was half as fast as oneDNN's, and where that is
/// known, runs need not depend on a clock.
bool may_mkl_be_faster();

/// From now on all products of this process are made so. MKL is left out where it is not to be had.
void use_product_libraries(const ProductLibraries& libraries);

/// @returns whether the shape's product is MKL's
bool is_mkl_product(const LinearShape& shape);

}  // namespace bertpretrain
