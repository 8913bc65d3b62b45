#include "kernels/matmul.h"

#include <ATen/ATen.h>

#include "kernels/cpu/accumulate.h"
#include "kernels/cpu/amx_matmul.h"
#include "kernels/cpu/mkl_matmul.h"
#include "kernels/kernel_set.h"
#include "kernels/matmul_libraries.h"
#include "kernels/packed_weight.h"

namespace bertpretrain {
namespace {

bool is_bf16_on_cpu(const at::Tensor& operand) { return operand.is_cpu() && operand.scalar_type() == at::kBFloat16; }

bool must_widen(const at::Tensor& operand) { return is_bf16_on_cpu(operand) && !has_bf16_matmul(); }

MatmulLibrary library_for(const at::Tensor& operand, const LinearShape& shape) {
    return is_bf16_on_cpu(operand) && has_bf16_matmul() ? matmul_library(shape) : MatmulLibrary::onednn;
}

/// a_MK b_KN in a's dtype.
at::Tensor matmul_by(MatmulLibrary library, const at::Tensor& a_MK, const at::Tensor& b_KN) {
    if (library == MatmulLibrary::onednn) return product(a_MK, b_KN);
    const bool amx = library == MatmulLibrary::amx;
    const at::Tensor out_MN =
        at::empty({a_MK.size(0), b_KN.size(1)}, a_MK.options().dtype(amx ? a_MK.scalar_type() : at::kFloat));
    if (amx) cpu::amx_matmul(a_MK, b_KN, out_MN, false);
    else cpu::mkl_matmul(a_MK, b_KN, out_MN, false);
    return out_MN.to(a_MK.scalar_type());
}

at::Tensor library_gemm(const at::Tensor& a_MK, const at::Tensor& b_KN) { return at::mm(a_MK, b_KN); }

void library_weight_gradient(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& d_weight_OI, bool accumulate) {
    at::Tensor to = d_weight_OI;
    const int times_before = accumulate ? 1 : 0;
    if (dy_TO.scalar_type() == to.scalar_type()) at::addmm_out(to, to, dy_TO.t(), x_TI, times_before);
    else at::addmm_out(to, to, dy_TO.t(), x_TI, at::kFloat, times_before);
}

at::Tensor widened_matmul(const at::Tensor& a_MK, const at::Tensor& b_KN) {
    return at::mm(a_MK.to(at::kFloat), b_KN.to(at::kFloat)).to(a_MK.scalar_type());
}

void widened_weight_gradient(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& d_weight_OI, bool accumulate) {
    const at::Tensor gradient_OI = at::mm(dy_TO.to(at::kFloat).t(), x_TI.to(at::kFloat));
    d_weight_OI.copy_(accumulate ? gradient_OI + d_weight_OI : gradient_OI);
}

}  // namespace

MatmulFunctions library_matmul() { return {library_gemm, library_weight_gradient}; }
MatmulFunctions reference_matmul() { return {widened_matmul, widened_weight_gradient}; }

at::Tensor product(const at::Tensor& a_MK, const at::Tensor& b_KN) {
    if (const auto chosen = kernels_for(a_MK.device()).matmul.product) return chosen(a_MK, b_KN);
    return must_widen(a_MK) ? widened_matmul(a_MK, b_KN) : at::mm(a_MK, b_KN);
}

at::Tensor linear_matmul(const at::Tensor& x_TI, const at::Tensor& weight_OI) {
    if (is_packed(weight_OI)) return packed_matmul(x_TI, weight_OI);
    return matmul_by(library_for(x_TI, {LinearMatmul::forward, weight_OI.size(0), weight_OI.size(1)}), x_TI, weight_OI.t());
}

at::Tensor linear_input_gradient(const at::Tensor& dy_TO, const at::Tensor& weight_OI) {
    return matmul_by(library_for(dy_TO, {LinearMatmul::input_gradient, weight_OI.size(0), weight_OI.size(1)}), dy_TO, weight_OI);
}

void add_linear_weight_gradient(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& d_weight_OI, bool accumulate) {
    if (const auto chosen = kernels_for(dy_TO.device()).matmul.add_weight_gradient)
        return chosen(dy_TO, x_TI, d_weight_OI, accumulate);
    at::Tensor to = d_weight_OI;
    const int times_before = accumulate ? 1 : 0;  // with 0, the old contents are not read
    const MatmulLibrary library = library_for(dy_TO, {LinearMatmul::weight_gradient, to.size(0), to.size(1)});
    if (must_widen(dy_TO) && to.scalar_type() == at::kBFloat16)
        to.copy_(at::addmm(to.to(at::kFloat), dy_TO.to(at::kFloat).t(), x_TI.to(at::kFloat), times_before));
    else if (dy_TO.scalar_type() == to.scalar_type()) at::addmm_out(to, to, dy_TO.t(), x_TI, times_before);
    else if (must_widen(dy_TO)) at::addmm_out(to, to, dy_TO.to(at::kFloat).t(), x_TI.to(at::kFloat), times_before);
    else if (library == MatmulLibrary::mkl) cpu::mkl_matmul(dy_TO.t(), x_TI, to, accumulate);
    else if (library == MatmulLibrary::amx) cpu::amx_matmul(dy_TO.t(), x_TI, to, accumulate);
    else if (accumulate) cpu::accumulate_bf16(at::mm(dy_TO.t(), x_TI), to);
    else to.copy_(at::mm(dy_TO.t(), x_TI));
}

}  // namespace bertpretrain
