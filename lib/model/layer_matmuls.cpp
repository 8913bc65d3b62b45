#include "model/layer_matmuls.h"

#include <ATen/ATen.h>

#include "kernels/fp8_matmul.h"
#include "kernels/fused_operations.h"
#include "kernels/kernels_in_use.h"
#include "kernels/matmul.h"

namespace bertpretrain {

MatmulOperand LayerMatmuls::operand(LayerLinear linear, LinearRole role, const OperandSource& source) const {
    if (are_fp8()) {
        MatmulOperand operand{
            {}, source.rounded.defined() ? source.rounded : quantize(source, scales_->quantizer(layer_, linear, role))};
        operand.fp8.inverse_scale_1 = scales_->inverse_scale(layer_, linear, role);
        return operand;
    }
    const at::Tensor x_TC = value_of(source, functions_for(source.x_TC.device()));
    if (scales_ != nullptr) {
        at::Tensor largest_1 = scales_->quantizer(layer_, linear, role).largest_1;
        largest_1.copy_(at::maximum(largest_1, x_TC.abs().amax()));
    }
    return {x_TC, {}};
}

MatmulOperand LayerMatmuls::weight(LayerLinear linear, const at::Tensor& weight_OI) const {
    if (!are_fp8()) return operand(linear, LinearRole::weight, {weight_OI});
    Fp8Operand& of_step = scales_->weight(layer_, linear);
    if (!of_step.defined()) of_step = operand(linear, LinearRole::weight, {weight_OI}).fp8;
    return {{}, of_step};
}

at::Tensor LayerMatmuls::forward(LayerLinear linear, const OperandSource& x_TI, const at::Tensor& weight_OI,
                                 LayerOperands& kept) const {
    LinearOperands& operands = kept[static_cast<std::size_t>(linear)];
    operands = {operand(linear, LinearRole::input, x_TI), weight(linear, weight_OI)};
    Fp8Operand& input = operands.input.fp8;
    if (!input.defined()) return linear_matmul(operands.input.compute_TC, weight_OI);
    const at::Tensor y_TO = fp8_linear_matmul(input, operands.weight.fp8);
    input.rows_TC.reset();  // the backward reads columns
    return y_TO;
}

void LayerMatmuls::add_weight_gradient(LayerLinear linear, const MatmulOperand& dy_TO, const LayerOperands& kept,
                                       const at::Tensor& d_weight_OI, bool accumulate) {
    const MatmulOperand& input = kept[static_cast<std::size_t>(linear)].input;
    if (dy_TO.fp8.defined()) add_fp8_linear_weight_gradient(dy_TO.fp8, input.fp8, d_weight_OI, accumulate);
    else add_linear_weight_gradient(dy_TO.compute_TC, input.compute_TC, d_weight_OI, accumulate);
}

at::Tensor LayerMatmuls::input_gradient(LayerLinear linear, const MatmulOperand& dy_TO, const LayerOperands& kept) {
    const MatmulOperand& weight = kept[static_cast<std::size_t>(linear)].weight;
    if (dy_TO.fp8.defined()) return fp8_linear_input_gradient(dy_TO.fp8, weight.fp8);
    return linear_input_gradient(dy_TO.compute_TC, weight.compute_TC);
}

}  // namespace bertpretrain
