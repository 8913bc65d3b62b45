#pragma once
// Random inputs for the cases of a self-proof, generated on the device.

#include <vector>

#include "kernels/proof_operation.h"

namespace bertpretrain {

/// Sequences of different lengths on a device, and random tensors drawn from one generator.
class ProofInputs {
public:
    ProofInputs(at::Device device, const ProofShape& shape, const std::vector<std::int64_t>& lengths_B);

    at::Tensor normal(at::IntArrayRef sizes, at::ScalarType type = at::kFloat);
    /// int64, 0 <= value < bound.
    at::Tensor below(std::int64_t bound, std::int64_t count);
    at::Tensor zeros(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) const;

    /// Random cosines and sines, for positions below the longest sequence's length.
    Rotary rotary() { return {normal({shape.longest_sequence, shape.hidden / shape.heads}), shape.heads}; }

    std::int64_t tokens() const { return layout.tokens(); }
    RowKeys rows() const;
    Dropout dropout(double probability, Purpose purpose) const { return {philox_key(77, purpose), 3, probability}; }

    at::Device device;
    ProofShape shape;
    SequenceLayout layout;

private:
    at::Generator generator_;
};

}  // namespace bertpretrain
