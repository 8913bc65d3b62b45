#include "kernels/fused_operations.h"

#include "kernels/kernels_in_use.h"

namespace bertpretrain {
namespace {

/// The functions for the first argument's device.
const FunctionTable& table_for(const at::Tensor& operand, const auto&...) { return functions_for(operand.device()); }
const FunctionTable& table_for(const NormArguments& of) { return functions_for(of.norm.weight_H.device()); }
const FunctionTable& table_for(const OperandSource& of, const auto&...) { return functions_for(of.x_TC.device()); }
const FunctionTable& table_for(const NormBackwardArguments& of) { return functions_for(of.norm.weight_H.device()); }

}  // namespace

#define BERTPRETRAIN_OPERATION(result, name, parameters, arguments) \
    result name parameters { return table_for arguments.name arguments; }
#include "kernels/interface/fused_functions.inc"

}  // namespace bertpretrain
