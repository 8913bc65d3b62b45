#include "kernels/self_proof_inputs.h"

#include <numeric>

#include <ATen/ATen.h>

namespace bertpretrain {

ProofInputs::ProofInputs(at::Device where, const ProofShape& of, const std::vector<std::int64_t>& lengths_B)
    : device(where), shape(of), generator_(at::globalContext().defaultGenerator(where).clone()) {
    constexpr std::int64_t first_sample = 5'000'000'000;  // above 2^32, so that both words of a sample number are tested
    generator_.set_current_seed(17);
    std::vector<std::int64_t> samples_B(lengths_B.size());
    std::iota(samples_B.begin(), samples_B.end(), first_sample);
    layout = sequence_layout(lengths_B, samples_B, device);
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
    for (std::int64_t b = 0; b < layout.sequences(); ++b) {
        const at::TensorOptions integers(at::kLong);
        samples.push_back(at::full({layout.length(b)}, layout.samples_B[static_cast<std::size_t>(b)], integers));
        positions.push_back(at::arange(layout.length(b), integers));
    }
    return {at::cat(samples).to(device), at::cat(positions).to(device)};
}

}  // namespace bertpretrain
