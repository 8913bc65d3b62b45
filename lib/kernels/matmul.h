#pragma once
// The three products of a Linear layer. Weights are (outputs, inputs), as torch stores them.
//
// Where the processor has no instruction for products of bf16, libtorch takes them apart, at best half as fast as it multiplies
// fp32 and without AVX-512 down to a thirtieth. There, operands are widened to fp32, which is exact, and what must be bf16 is
// rounded behind the product, as it is everywhere. Where it has, matmul_libraries.h says which library multiplies.

#include <ATen/core/Tensor.h>

namespace bertpretrain {

/// The matmuls of a device that has more than one way to do them; null: the way that matmul.cpp chooses by itself.
struct MatmulFunctions {
    at::Tensor (*product)(const at::Tensor& a_MK, const at::Tensor& b_KN) = nullptr;
    void (*add_weight_gradient)(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& d_weight_OI,
                                bool accumulate) = nullptr;
};
/// By the library of the device, in the operands' dtype; a weight gradient is accumulated in its own dtype inside the matmul.
MatmulFunctions library_matmul();
/// What the matmuls mean: operands are widened to fp32, the result is rounded once.
MatmulFunctions reference_matmul();

/// a_MK b_KN in their dtype, accumulated in fp32.
at::Tensor product(const at::Tensor& a_MK, const at::Tensor& b_KN);

/// y_TO = x_TI W_OI^T, in x's dtype, without the bias. The weight may be packed (packed_weight.h).
at::Tensor linear_matmul(const at::Tensor& x_TI, const at::Tensor& weight_OI);
/// dx_TI = dy_TO W_OI.
at::Tensor linear_input_gradient(const at::Tensor& dy_TO, const at::Tensor& weight_OI);
/// d_weight_OI += dy_TO^T x_TI, or = where `accumulate` is false (the memory may hold anything then). An fp32 sum is accumulated
/// in fp32: inside the product on CUDA, by MKL, by tiles and where operands are widened, elsewhere the product is rounded to the
/// compute_dtype dtype first, as autocast does. A bf16 sum is rounded once.
void add_linear_weight_gradient(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& d_weight_OI,
                                bool accumulate = true);

}  // namespace bertpretrain
