#pragma once
// The fused operations of one implementation as a table of function pointers, so that they can be chosen at run time.

#include "kernels/interface/fused_types.h"

namespace bertpretrain {

struct FunctionTable {
#define BERTPRETRAIN_OPERATION(result, name, parameters, arguments) result(*name) parameters;
#include "kernels/interface/fused_functions.inc"
};

/// Returns the operand in the compute dtype. Adds to the bias's gradient, if there is one.
inline at::Tensor value_of(const OperandSource& source, const FunctionTable& by) {
    const auto& [x_TC, activation, is_gated, bias_C, dy_TF, d_bias_C, rounded] = source;
    if (!activation) return x_TC;
    if (is_gated)
        return dy_TF.defined() ? by.gated_activation_backward(dy_TF, x_TC, *activation) : by.gated_activation(x_TC, *activation);
    return dy_TF.defined() ? by.bias_activation_backward(dy_TF, x_TC, bias_C, *activation, d_bias_C)
                           : by.bias_activation(x_TC, bias_C, *activation);
}

}  // namespace bertpretrain
