#include "kernels/cuda/quantize.h"

#include <ATen/ops/empty.h>

#include "kernels/cuda/activation.h"
#include "kernels/cuda/column_sums.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tensors.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cuda {
namespace {

/// What operands are computed by, where no kernel rounds them at once.
FunctionTable activations() {
    FunctionTable table{};
    table.bias_activation = bias_activation, table.bias_activation_backward = bias_activation_backward;
    table.gated_activation = gated_activation, table.gated_activation_backward = gated_activation_backward;
    return table;
}

void quantize_activation(const Quantized& pass, const OperandSource& source, cudaStream_t stream) {
    const at::Tensor bias_C = source.is_gated ? at::Tensor() : bias_or_zeros(source.bias_C, source.x_TC);
    const bool sums = source.dy_TF.defined() && source.d_bias_C.defined();
    const std::int64_t tiles = ceil_div(pass.rows, quantized_tile_rows);
    const at::Tensor tile_sums = sums ? at::empty({tiles, pass.width}, source.x_TC.options().dtype(at::kFloat)) : at::Tensor();
    quantize_activation(pass,
                        {function_of(*source.activation), source.is_gated, fp32_data(bias_C), compute_data<Bf16>(source.dy_TF),
                         fp32_data(tile_sums)},
                        stream);
    if (sums) add_column_sums({fp32_data(tile_sums), tiles, 1, pass.width, {fp32_data(source.d_bias_C)}}, stream);
}

}  // namespace

Fp8Operand quantize(const OperandSource& source, const Quantizer& by) {
    const bool is_e4m3 = by.type == at::kFloat8_e4m3fn, halves = source.is_gated && !source.dy_TF.defined();
    const std::int64_t T = source.x_TC.size(0), C = source.x_TC.size(1) / (halves ? 2 : 1);
    // of an activation, there are kernels for the types that are used
    const bool has_kernel = !source.activation || is_e4m3 != source.dy_TF.defined();
    if (!has_kernel || T % 4 != 0 ||
        !in_quads(source.is_gated ? source.x_TC.size(1) / 2 : C, {source.x_TC, source.bias_C, source.dy_TF}))
        return reference::quantize({value_of(source, activations())}, by);
    Fp8Operand operand = empty_fp8(T, C, by);
    const Quantized pass{fp8_rows(operand, by), compute_data<Bf16>(source.x_TC)};
    if (source.activation) quantize_activation(pass, source, current_stream());
    else quantize(pass, is_e4m3, current_stream());
    return operand;
}

}  // namespace bertpretrain::cuda
