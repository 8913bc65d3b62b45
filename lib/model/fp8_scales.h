#pragma once
// The scales of fp8 operands, and weights rounded with them. Scales are powers of two, from the largest magnitude that each
// operand had in the step before, over all ranks. A power of two changes no rounding of normal numbers, and a maximum depends on
// no order, so results depend on micro-batch and ranks as little as in bf16. Source: delayed scaling as in Micikevicius et al.
// 2022, with a history of one step.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "kernels/interface/fused_types.h"

namespace bertpretrain {

/// The Linears of an encoder layer, in order of the forward.
enum class LayerLinear { qkv, attention_out, intermediate, output };
/// What a Linear's matmuls read. The gradient is that of its output; it is e5m2, the others e4m3.
enum class LinearRole { input, weight, gradient };

class Fp8Scales {
public:
    Fp8Scales(std::int64_t layers, at::Device device);

    /// Whether magnitudes are known. They are not in a run's first step, which therefore computes in bf16 and measures them.
    bool ready() const { return ready_; }

    /// Returns how to round an operand; its tensors are views.
    Quantizer quantizer(std::int64_t layer, LayerLinear linear, LinearRole role) const;
    /// Returns the inverse of that scale, a view.
    at::Tensor inverse_scale(std::int64_t layer, LayerLinear linear, LinearRole role) const;

    /// A layer's weight, which its first matmul of a step rounds for all passes of the step. Undefined until then.
    Fp8Operand& weight(std::int64_t layer, LayerLinear linear);

    /// Forgets the magnitudes and rounded weights of the step before, but not the scales.
    void begin_step();
    /// Returns this rank's largest magnitudes since then. Waits for the device.
    std::vector<double> word() const;
    /// Sets the scales of the next step. Ignores a step in which a number was not finite; an operand without magnitudes, or with
    /// zeros alone, keeps its scale. @param of_all word() of each rank, one after the other
    void hear(const std::vector<double>& of_all);

    /// Returns the magnitudes that the scales follow from, for a checkpoint; empty before the first.
    std::vector<double> state() const;
    /// @throws CheckpointError if these are neither state() of a model with as many layers nor empty
    void restore(const std::vector<double>& state);

private:
    void use(const std::vector<double>& largest);

    bool ready_ = false;
    std::vector<double> known_;  ///< by site (site_of() in the .cpp); 0: none yet
    at::Tensor scale_S, inverse_S, largest_S;
    std::vector<Fp8Operand> weights_;  ///< by layer and Linear
};

}  // namespace bertpretrain
