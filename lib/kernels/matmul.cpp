#include "kernels/matmul.h"

#include <ATen/ATen.h>

#include "kernels/cpu/accumulate.h"
#include "kernels/cpu/instruction_set.h"

namespace bertpretrain {
namespace {

bool must_widen(const at::Tensor& operand) {
    return operand.is_cpu() && operand.scalar_type() == at::kBFloat16 &&
           cpu::library_instruction_set() < cpu::InstructionSet::avx512_bf16;
}

}  // namespace

at::Tensor product(const at::Tensor& a_MK, const at::Tensor& b_KN) {
    if (!must_widen(a_MK)) return at::mm(a_MK, b_KN);
    return at::mm(a_MK.to(at::kFloat), b_KN.to(at::kFloat)).to(a_MK.scalar_type());
}

at::Tensor linear_product(const at::Tensor& x_TI, const at::Tensor& weight_OI) { return product(x_TI, weight_OI.t()); }

at::Tensor linear_input_gradient(const at::Tensor& dy_TO, const at::Tensor& weight_OI) { return product(dy_TO, weight_OI); }

void add_linear_weight_gradient(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& d_weight_OI) {
    at::Tensor sum = d_weight_OI;
    if (must_widen(dy_TO) && sum.scalar_type() == at::kBFloat16)
        sum.copy_(at::addmm(sum.to(at::kFloat), dy_TO.to(at::kFloat).t(), x_TI.to(at::kFloat)));
    else if (dy_TO.scalar_type() == sum.scalar_type()) at::addmm_out(sum, sum, dy_TO.t(), x_TI);
    else if (dy_TO.is_cuda()) at::addmm_out(sum, sum, dy_TO.t(), x_TI, at::kFloat);
    else if (must_widen(dy_TO)) at::addmm_out(sum, sum, dy_TO.to(at::kFloat).t(), x_TI.to(at::kFloat));
    else cpu::accumulate_bf16(at::mm(dy_TO.t(), x_TI), sum);
}

}  // namespace bertpretrain
