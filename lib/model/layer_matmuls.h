#pragma once
// The matmuls of an encoder layer's Linears, in the compute dtype or in fp8.

#include <array>
#include <optional>

#include <ATen/core/Tensor.h>

#include "model/fp8_scales.h"

namespace bertpretrain {

/// An operand in the compute dtype, or in fp8.
struct MatmulOperand {
    at::Tensor compute_TC;
    Fp8Operand fp8;
};

/// A Linear's operands, as the forward leaves them for the backward.
struct LinearOperands {
    MatmulOperand input, weight;
};
using LayerOperands = std::array<LinearOperands, 4>;  ///< by LayerLinear

class LayerMatmuls {
public:
    /// @param scales null: in the compute dtype. Must outlive this.
    LayerMatmuls(Fp8Scales* scales, std::int64_t layer) : scales_(scales), layer_(layer) {}

    /// Returns the matmuls after a layer's attention. Those of the rows that the heads read are so small that rounding their
    /// operands would save nothing. @param all whether the layer computes all rows
    LayerMatmuls of_rows_after_attention(bool all) const { return {all ? scales_ : nullptr, layer_}; }

    bool are_fp8() const { return scales_ != nullptr && scales_->ready(); }

    /// Returns how the kernel that computes an operand may round it; nothing if the matmuls are not in fp8.
    std::optional<Quantizer> quantizer(LayerLinear linear, LinearRole role) const {
        return are_fp8() ? std::optional(scales_->quantizer(layer_, linear, role)) : std::nullopt;
    }
    /// The same of the next layer's input; nothing if this is the last of `layers`.
    std::optional<Quantizer> next_input(std::int64_t layers) const {
        return layer_ + 1 < layers ? LayerMatmuls(scales_, layer_ + 1).quantizer(LayerLinear::qkv, LinearRole::input)
                                   : std::nullopt;
    }

    /// Returns y_TO = x_TI W_OI^T, and keeps what the backward needs.
    at::Tensor forward(LayerLinear linear, const OperandSource& x_TI, const at::Tensor& weight_OI, LayerOperands& kept) const;
    /// Returns the gradient of a Linear's output as the two matmuls of the backward read it.
    MatmulOperand gradient(LayerLinear linear, const OperandSource& dy_TO) const {
        return operand(linear, LinearRole::gradient, dy_TO);
    }
    /// d_weight_OI += dy_TO^T x_TI, or = if `accumulate` is false. @param dy_TO of gradient()
    static void add_weight_gradient(LayerLinear linear, const MatmulOperand& dy_TO, const LayerOperands& kept,
                                    const at::Tensor& d_weight_OI, bool accumulate);
    /// Returns dx_TI = dy_TO W_OI.
    static at::Tensor input_gradient(LayerLinear linear, const MatmulOperand& dy_TO, const LayerOperands& kept);

private:
    MatmulOperand operand(LayerLinear linear, LinearRole role, const OperandSource& source) const;
    MatmulOperand weight(LayerLinear linear, const at::Tensor& weight_OI) const;

    Fp8Scales* scales_;
    std::int64_t layer_;
};

}  // namespace bertpretrain
