#include "kernels/plain_matmul.h"

#include <ATen/ATen.h>

namespace bertpretrain {
namespace {

at::Tensor library_gemm(const at::Tensor& a_MK, const at::Tensor& b_KN) { return at::mm(a_MK, b_KN); }

void library_weight_gradient(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& d_weight_OI, bool accumulate) {
    at::Tensor to = d_weight_OI;
    const int times_before = accumulate ? 1 : 0;
    if (dy_TO.scalar_type() == to.scalar_type()) at::addmm_out(to, to, dy_TO.t(), x_TI, times_before);
    else at::addmm_out(to, to, dy_TO.t(), x_TI, at::kFloat, times_before);
}

void widened_weight_gradient(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& d_weight_OI, bool accumulate) {
    const at::Tensor gradient_OI = at::mm(dy_TO.to(at::kFloat).t(), x_TI.to(at::kFloat));
    d_weight_OI.copy_(accumulate ? gradient_OI + d_weight_OI : gradient_OI);
}

at::Tensor library_fp8_gemm(const Fp8Factor& a_MK, const Fp8Factor& b_NK, at::ScalarType type, bool is_fast) {
    return at::_scaled_mm(a_MK.numbers_MK, b_NK.numbers_MK.t(), a_MK.inverse_scale_1, b_NK.inverse_scale_1, std::nullopt,
                          std::nullopt, type, is_fast);
}

at::Tensor widened_fp8_gemm(const Fp8Factor& a_MK, const Fp8Factor& b_NK, at::ScalarType type, bool) {
    const at::Tensor sum_MN = at::mm(a_MK.numbers_MK.to(at::kFloat), b_NK.numbers_MK.to(at::kFloat).t());
    return (sum_MN * (a_MK.inverse_scale_1 * b_NK.inverse_scale_1)).to(type);
}

}  // namespace

at::Tensor widened_gemm(const at::Tensor& a_MK, const at::Tensor& b_KN) {
    return at::mm(a_MK.to(at::kFloat), b_KN.to(at::kFloat)).to(a_MK.scalar_type());
}

MatmulFunctions library_matmul() { return {library_gemm, library_weight_gradient, library_fp8_gemm}; }
MatmulFunctions reference_matmul() { return {widened_gemm, widened_weight_gradient, widened_fp8_gemm}; }

}  // namespace bertpretrain
