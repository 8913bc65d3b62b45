#pragma once
// Random inputs for the fused operations, and both implementations to compare.

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "kernels/interface/implementations.h"
#include "support/catch.h"

namespace bertpretrain::testing {

/// All operations of one implementation.
struct Operations : FunctionTable {
    std::string name;
};

inline const Operations reference_operations{reference::functions(), "reference"};
inline const Operations cpu_operations{cpu::functions(), "cpu"};
inline const std::vector<Operations> both_implementations{reference_operations, cpu_operations};

/// Independent normal numbers, equal for equal seeds.
class RandomTensors {
public:
    explicit RandomTensors(std::uint64_t seed) : generator_(at::detail::createCPUGenerator(seed)) {}
    at::Tensor normal(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) {
        return at::randn(sizes, generator_, at::TensorOptions(at::kFloat)).to(type);
    }
    at::Tensor below(std::int64_t bound, std::int64_t count) {
        return at::randint(bound, {count}, generator_, at::TensorOptions(at::kLong));
    }

private:
    at::Generator generator_;
};

/// Sequences without padding, and the token of each row.
struct Ragged {
    SequenceLayout layout;
    RowKeys rows;
    std::int64_t tokens() const { return layout.tokens(); }
};

inline Ragged ragged_samples(const std::vector<std::int64_t>& lengths_B, const std::vector<std::int64_t>& samples_B,
                             at::Device device = at::kCPU) {
    std::vector<at::Tensor> samples, positions;
    for (std::size_t b = 0; b < lengths_B.size(); ++b) {
        samples.push_back(at::full({lengths_B[b]}, samples_B[b], at::TensorOptions(at::kLong)));
        positions.push_back(at::arange(lengths_B[b], at::TensorOptions(at::kLong)));
    }
    return {sequence_layout(lengths_B, samples_B, device), {at::cat(samples).to(device), at::cat(positions).to(device)}};
}

/// Samples whose numbers follow one another.
/// @param first_sample  above 2^32, so that both words of a sample number are tested
inline Ragged ragged(const std::vector<std::int64_t>& lengths_B, std::int64_t first_sample = 5'000'000'000,
                     at::Device device = at::kCPU) {
    std::vector<std::int64_t> samples_B(lengths_B.size());
    std::iota(samples_B.begin(), samples_B.end(), first_sample);
    return ragged_samples(lengths_B, samples_B, device);
}

inline Dropout dropout_of(double probability, Purpose purpose = Purpose::hidden_dropout, std::uint32_t site = 3) {
    return {philox_key(77, purpose), site, probability};
}

/// || actual - expected || / || expected ||, in float64.
inline double relative_error(const at::Tensor& actual, const at::Tensor& expected) {
    const at::Tensor difference = actual.to(at::kDouble) - expected.to(at::kDouble);
    const double norm = expected.to(at::kDouble).norm().item<double>();
    return difference.norm().item<double>() / (norm > 0 ? norm : 1.0);
}

/// Bound on the relative error of a whole tensor of this type that rounding alone explains. Roundings to bf16 are up to 2^-8
/// each, and average out over many elements.
inline double rounding_bound(const at::Tensor& result) {
    if (result.scalar_type() != at::kBFloat16) return 3e-6;
    return result.numel() < 16 ? 0x1p-8 : 2.5e-3;
}

/// A float64 leaf for autograd with the values of `tensor`; undefined if `tensor` is.
inline at::Tensor leaf(const at::Tensor& tensor) {
    return tensor.defined() ? tensor.to(at::kDouble, false, true).requires_grad_() : at::Tensor();
}

inline bool same_bits(const at::Tensor& a, const at::Tensor& b) { return a.scalar_type() == b.scalar_type() && at::equal(a, b); }

}  // namespace bertpretrain::testing

/// Checks that `actual` equals `expected` up to rounding to its own type. Evaluates both once.
#define CHECK_ROUNDED(actual, expected)                                                                                    \
    do {                                                                                                                   \
        CAPTURE(#actual);                                                                                                  \
        const at::Tensor checked = actual;                                                                                 \
        CHECK(bertpretrain::testing::relative_error(checked, expected) <= bertpretrain::testing::rounding_bound(checked)); \
    } while (false)
