#include "kernels/fp8_matmul.h"

#include <string_view>

#include <ATen/ATen.h>

#include "core/error.h"
#include "kernels/kernels_in_use.h"
#include "kernels/matmul.h"

namespace bertpretrain {
namespace {

Fp8Factor by_row(const Fp8Operand& operand) { return {operand.rows_TC, operand.inverse_scale_1}; }
Fp8Factor by_column(const Fp8Operand& operand) { return {operand.columns_CT, operand.inverse_scale_1}; }

at::Tensor inverse_scale(const Fp8Factor& a, const Fp8Factor& b) { return a.inverse_scale_1 * b.inverse_scale_1; }

/// a_MK b_NK^T in bf16.
at::Tensor gemm_of(const Fp8Factor& a_MK, const Fp8Factor& b_NK, bool is_fast) {
    if (const auto chosen = kernels_for(a_MK.numbers_MK.device()).matmul.fp8_gemm)
        return chosen(a_MK, b_NK, at::kBFloat16, is_fast);
    const at::Tensor product_MN = linear_matmul(a_MK.numbers_MK.to(at::kBFloat16), b_NK.numbers_MK.to(at::kBFloat16));
    return product_MN.mul_(inverse_scale(a_MK, b_NK));
}

/// a_MK b_NK^T in fp32.
at::Tensor fp32_gemm_of(const Fp8Factor& a_MK, const Fp8Factor& b_NK) {
    if (const auto chosen = kernels_for(a_MK.numbers_MK.device()).matmul.fp8_gemm)
        return chosen(a_MK, b_NK, at::kFloat, /*is_fast=*/false);
    const auto in_bf16 = [](const Fp8Factor& of) { return of.numbers_MK.to(at::kBFloat16).t().contiguous(); };
    const at::Tensor product_MN = at::empty({a_MK.numbers_MK.size(0), b_NK.numbers_MK.size(0)}, at::kFloat);
    add_linear_weight_gradient(in_bf16(a_MK), in_bf16(b_NK), product_MN, /*accumulate=*/false);
    return product_MN.mul_(inverse_scale(a_MK, b_NK));
}

}  // namespace

at::Tensor fp8_linear_matmul(const Fp8Operand& x_TI, const Fp8Operand& weight_OI) {
    return gemm_of(by_row(x_TI), by_row(weight_OI), /*is_fast=*/true);
}

at::Tensor fp8_linear_input_gradient(const Fp8Operand& dy_TO, const Fp8Operand& weight_OI) {
    return gemm_of(by_row(dy_TO), by_column(weight_OI), /*is_fast=*/false);
}

void add_fp8_linear_weight_gradient(const Fp8Operand& dy_TO, const Fp8Operand& x_TI, const at::Tensor& d_weight_OI,
                                    bool accumulate) {
    const at::Tensor product_OI = fp32_gemm_of(by_column(dy_TO), by_column(x_TI));
    if (accumulate) d_weight_OI.add_(product_OI);
    else d_weight_OI.copy_(product_OI);
}

void require_fp8_matmul(at::Device device) {
    const at::Tensor one_1 = at::ones({}, at::TensorOptions(device)), ones = at::ones({16, 16}, one_1.options());
    const Fp8Operand operand{ones.to(at::kFloat8_e4m3fn), ones.to(at::kFloat8_e4m3fn), one_1};
    try {
        if (fp8_linear_matmul(operand, operand).to(at::kFloat).eq(16).all().item<bool>()) return;
    } catch (const c10::Error& error) {
        throw ConfigError(concat("training.fp8_matmuls: ", device.str(), " cannot multiply in fp8 (",
                                 std::string_view(error.what_without_backtrace()).substr(0, 200),
                                 ")\n  do: leave fp8_matmuls out, or use a GPU of compute capability 8.9 or more"));
    }
    throw NumbersError(concat("training.fp8_matmuls: ", device.str(), " multiplies wrongly in fp8\n  do: leave fp8_matmuls out"));
}

}  // namespace bertpretrain
