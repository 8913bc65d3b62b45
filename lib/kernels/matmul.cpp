#include "kernels/matmul.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "kernels/cpu/accumulate.h"
#include "kernels/cpu/amx/matmul.h"
#include "kernels/cpu/mkl_matmul.h"
#include "kernels/cpu/panel_matmul.h"
#include "kernels/kernels_in_use.h"
#include "kernels/matmul_libraries.h"
#include "kernels/packed_weight.h"
#include "kernels/plain_matmul.h"

namespace bertpretrain {
namespace {

bool is_bf16_on_cpu(const at::Tensor& operand) { return operand.is_cpu() && operand.scalar_type() == at::kBFloat16; }

bool must_widen(const at::Tensor& operand) { return is_bf16_on_cpu(operand) && !has_bf16_matmul(); }

/// Where operands are widened, our own kernel does so while it packs them. For fp32, libtorch's MKL is as fast or faster.
MatmulLibrary default_library_for(const at::Tensor& operand) {
    if (!is_bf16_on_cpu(operand)) return MatmulLibrary::onednn;
    return must_widen(operand) && has(MatmulLibrary::vector) ? MatmulLibrary::vector : default_matmul_library();
}

MatmulLibrary library_for(const at::Tensor& operand, const LinearShape& shape) {
    return is_bf16_on_cpu(operand) && has_bf16_matmul() ? matmul_library(shape) : default_library_for(operand);
}

/// Packing small matrices would take longer than multiplying them.
bool is_small(const at::Tensor& a_MK, const at::Tensor& b_KN) {
    constexpr std::int64_t smallest = 64;
    return std::min({a_MK.size(0), a_MK.size(1), b_KN.size(1)}) < smallest;
}

void add_weight_gradient_by_vectors(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& d_weight_OI,
                                    bool accumulate) {
    const bool round_later = accumulate && d_weight_OI.scalar_type() != at::kFloat;
    const at::Tensor sum_OI = round_later ? d_weight_OI.to(at::kFloat) : d_weight_OI;
    cpu::panel_matmul(*cpu::panel_kernel(), dy_TO.t(), x_TI, sum_OI, accumulate);
    if (round_later) d_weight_OI.copy_(sum_OI);
}

/// a_MK b_KN in a's dtype.
at::Tensor matmul_by(MatmulLibrary library, const at::Tensor& a_MK, const at::Tensor& b_KN) {
    const auto result = [&](at::ScalarType type) { return at::empty({a_MK.size(0), b_KN.size(1)}, a_MK.options().dtype(type)); };
    if (library == MatmulLibrary::mkl) {
        const at::Tensor out_MN = result(at::kFloat);
        cpu::mkl_matmul(a_MK, b_KN, out_MN, false);
        return out_MN.to(a_MK.scalar_type());
    }
    if (library == MatmulLibrary::amx || (library == MatmulLibrary::vector && !is_small(a_MK, b_KN))) {
        const at::Tensor out_MN = result(a_MK.scalar_type());
        if (library == MatmulLibrary::amx) cpu::amx_matmul(a_MK, b_KN, out_MN, false);
        else cpu::panel_matmul(*cpu::panel_kernel(), a_MK, b_KN, out_MN, false);
        return out_MN;
    }
    return must_widen(a_MK) ? widened_gemm(a_MK, b_KN) : at::mm(a_MK, b_KN);
}

at::Tensor matmul_of(const at::Tensor& a_MK, const at::Tensor& b_KN, MatmulLibrary library) {
    if (const auto chosen = kernels_for(a_MK.device()).matmul.gemm) return chosen(a_MK, b_KN);
    return matmul_by(library, a_MK, b_KN);
}

}  // namespace

at::Tensor gemm(const at::Tensor& a_MK, const at::Tensor& b_KN) { return matmul_of(a_MK, b_KN, default_library_for(a_MK)); }

at::Tensor linear_matmul(const at::Tensor& x_TI, const at::Tensor& weight_OI) {
    if (is_packed(weight_OI)) return packed_matmul(x_TI, weight_OI);
    return matmul_of(x_TI, weight_OI.t(), library_for(x_TI, {LinearMatmul::forward, weight_OI.size(0), weight_OI.size(1)}));
}

at::Tensor linear_input_gradient(const at::Tensor& dy_TO, const at::Tensor& weight_OI) {
    return matmul_of(dy_TO, weight_OI, library_for(dy_TO, {LinearMatmul::input_gradient, weight_OI.size(0), weight_OI.size(1)}));
}

void add_linear_weight_gradient(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& d_weight_OI, bool accumulate) {
    if (const auto chosen = kernels_for(dy_TO.device()).matmul.add_weight_gradient)
        return chosen(dy_TO, x_TI, d_weight_OI, accumulate);
    at::Tensor to = d_weight_OI;
    const MatmulLibrary library = library_for(dy_TO, {LinearMatmul::weight_gradient, to.size(0), to.size(1)});
    if (library == MatmulLibrary::vector && !is_small(dy_TO.t(), x_TI))
        return add_weight_gradient_by_vectors(dy_TO, x_TI, to, accumulate);
    const int times_before = accumulate ? 1 : 0;  // with 0, the old contents are not read
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
