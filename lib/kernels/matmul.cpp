#include "kernels/matmul.h"

#include <ATen/ATen.h>

#include "kernels/cpu/accumulate.h"

namespace bertpretrain {

at::Tensor linear_product(const at::Tensor& x_TI, const at::Tensor& weight_OI) { return at::mm(x_TI, weight_OI.t()); }

at::Tensor linear_input_gradient(const at::Tensor& dy_TO, const at::Tensor& weight_OI) { return at::mm(dy_TO, weight_OI); }

void add_linear_weight_gradient(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& d_weight_OI) {
    at::Tensor sum = d_weight_OI;
    if (dy_TO.scalar_type() == sum.scalar_type()) at::addmm_out(sum, sum, dy_TO.t(), x_TI);
    else if (dy_TO.is_cuda()) at::addmm_out(sum, sum, dy_TO.t(), x_TI, at::kFloat);
    else cpu::accumulate_bf16(at::mm(dy_TO.t(), x_TI), sum);
}

}  // namespace bertpretrain
