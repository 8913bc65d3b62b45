#pragma once
// The size of a micro-batch, and how it is computed, as far as memory depends on it.

#include <cstdint>

namespace bertpretrain {

struct ActivationShape {
    std::int64_t sequences = 16, tokens = 2048, masked = 320;
    bool bf16 = true;
    bool checkpointing = false;
    /// In which a layer's attention keeps its dropout masks, per token: of all keys, and within the model's window.
    double mask_bytes = 0, local_mask_bytes = 0;
    bool bf16_residual = false;
    bool fp8_matmuls = false;  ///< on a GPU
    /// In which matmuls pack a bf16 number on a CPU that cannot multiply such numbers, and so widens them: 4, else 0. Where it
    /// can, a packed operand is half as large, and not counted.
    double widened_bytes = 0;

    double compute_bytes() const { return bf16 ? 2 : 4; }
    double residual_bytes() const { return bf16_residual ? 2 : 4; }
    /// Of a matmul's operand, as it is kept for the backward.
    double operand_bytes() const { return fp8_matmuls ? 1 : compute_bytes(); }
    /// What matmuls in fp8 need besides: weights of all layers in both orders, the context's transpose (it is kept in bf16, too),
    /// an operand of the backward in both orders, and the largest weight's gradient, before it is added.
    /// @param weights of all layers @param widest of a token's operands @param largest_weight in elements
    double fp8_bytes(double weights, double widest, double hidden_of_layers, double largest_weight) const {
        if (!fp8_matmuls) return 0;
        return 2 * weights + static_cast<double>(tokens) * (2 * widest + hidden_of_layers) + 4 * largest_weight;
    }
};

}  // namespace bertpretrain
