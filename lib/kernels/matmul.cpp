#include "kernels/matmul.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "kernels/cpu/accumulate.h"
#include "kernels/cpu/amx_matmul.h"
#include "kernels/cpu/fma_matmul.h"
#include "kernels/cpu/mkl_matmul.h"
#include "kernels/kernels_in_use.h"
#include "kernels/matmul_libraries.h"
#include "kernels/packed_weight.h"
#include "kernels/plain_matmul.h"

namespace bertpretrain {
namespace {

bool is_bf16_on_cpu(const at::Tensor& operand) { return operand.is_cpu() && operand.scalar_type() == at::kBFloat16; }

bool must_widen(const at::Tensor& operand) { return is_bf16_on_cpu(operand) && !has_bf16_matmul(); }

MatmulLibrary library_for(const at::Tensor& operand, const LinearShape& shape) {
    return is_bf16_on_cpu(operand) && has_bf16_matmul() ? matmul_library(shape) : MatmulLibrary::onednn;
}

/// Whether our own AVX2 kernel computes the matmul: it widens bf16 operands while it packs them. For fp32, libtorch's MKL is as
/// fast or faster. Packing small matrices would take longer than multiplying them.
bool use_fma(const at::Tensor& a_MK, const at::Tensor& b_KN) {
    constexpr std::int64_t smallest = 64;
    return must_widen(a_MK) && cpu::has_fma_matmul() && std::min({a_MK.size(0), a_MK.size(1), b_KN.size(1)}) >= smallest;
}

void add_weight_gradient_by_fma(const at::Tensor& dy_TO, const at::Tensor& x_TI, at::Tensor d_weight_OI, bool accumulate) {
    if (!accumulate || d_weight_OI.scalar_type() == at::kFloat) return cpu::fma_matmul(dy_TO.t(), x_TI, d_weight_OI, accumulate);
    const at::Tensor sum_OI = d_weight_OI.to(at::kFloat);
    cpu::fma_matmul(dy_TO.t(), x_TI, sum_OI, true);
    d_weight_OI.copy_(sum_OI);
}

/// a_MK b_KN in a's dtype.
at::Tensor matmul_by(MatmulLibrary library, const at::Tensor& a_MK, const at::Tensor& b_KN) {
    if (library == MatmulLibrary::onednn) return gemm(a_MK, b_KN);
    const bool amx = library == MatmulLibrary::amx;
    const at::Tensor out_MN =
        at::empty({a_MK.size(0), b_KN.size(1)}, a_MK.options().dtype(amx ? a_MK.scalar_type() : at::kFloat));
    if (amx) cpu::amx_matmul(a_MK, b_KN, out_MN, false);
    else cpu::mkl_matmul(a_MK, b_KN, out_MN, false);
    return out_MN.to(a_MK.scalar_type());
}

}  // namespace

at::Tensor gemm(const at::Tensor& a_MK, const at::Tensor& b_KN) {
    if (const auto chosen = kernels_for(a_MK.device()).matmul.gemm) return chosen(a_MK, b_KN);
    if (use_fma(a_MK, b_KN)) {
        const at::Tensor out_MN = at::empty({a_MK.size(0), b_KN.size(1)}, a_MK.options());
        cpu::fma_matmul(a_MK, b_KN, out_MN, false);
        return out_MN;
    }
    return must_widen(a_MK) ? widened_gemm(a_MK, b_KN) : at::mm(a_MK, b_KN);
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
    if (use_fma(dy_TO.t(), x_TI)) return add_weight_gradient_by_fma(dy_TO, x_TI, d_weight_OI, accumulate);
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
