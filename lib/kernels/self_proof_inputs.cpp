#include "kernels/self_proof_inputs.h"

#include <ATen/ATen.h>

namespace bertpretrain {

ProofInputs::ProofInputs(at::Device where, const ProofShape& of, std::vector<std::int64_t> lengths)
    : device(where), shape(of), generator_(at::globalContext().defaultGenerator(where).clone()) {
    constexpr std::int64_t first_sample = 5'000'000'000;  // above 2^32, so that both words of a sample number are tested
    generator_.set_current_seed(17);
    for (const std::int64_t length : lengths) {
        samples_B.push_back(first_sample + static_cast<std::int64_t>(samples_B.size()));
        starts_B1.push_back(starts_B1.back() + length);
    }
}

at::Tensor ProofInputs::normal(at::IntArrayRef sizes, at::ScalarType type) {
    return at::randn(sizes, generator_, at::TensorOptions(device).dtype(at::kFloat)).to(type);
}

at::Tensor ProofInputs::below(std::int64_t bound, std::int64_t count) {
    return at::randint(bound, {count}, generator_, at::TensorOptions(device).dtype(at::kLong));
}

at::Tensor ProofInputs::zeros(at::IntArrayRef sizes, at::ScalarType type) const {
    return at::zeros(sizes, at::TensorOptions(device).dtype(type));
}

RowKeys ProofInputs::rows() const {
    std::vector<at::Tensor> samples, positions;
    for (std::size_t b = 0; b < samples_B.size(); ++b) {
        const std::int64_t length = starts_B1[b + 1] - starts_B1[b];
        samples.push_back(at::full({length}, samples_B[b], at::TensorOptions(at::kLong)));
        positions.push_back(at::arange(length, at::TensorOptions(at::kLong)));
    }
    return {at::cat(samples).to(device), at::cat(positions).to(device)};
}

}  // namespace bertpretrain
