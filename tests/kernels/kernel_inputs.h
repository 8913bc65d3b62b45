#pragma once
// Random inputs for the fused operations, and both implementations to compare.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "kernels/function_table.h"
#include "support/catch.h"

namespace bertpretrain::testing {

/// All operations of one implementation.
struct Operations : FunctionTable {
    std::string name;
};

inline const Operations reference_operations{BERTPRETRAIN_FUNCTIONS_OF(reference), "reference"};
inline const Operations cpu_operations{BERTPRETRAIN_FUNCTIONS_OF(cpu), "cpu"};
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
    std::vector<std::int64_t> starts_B1{0}, samples_B;
    RowKeys rows;
    std::int64_t tokens() const { return starts_B1.back(); }
};

/// @param first_sample  above 2^32, so that both words of a sample number are tested
inline Ragged ragged(const std::vector<std::int64_t>& lengths, std::int64_t first_sample = 5'000'000'000) {
    Ragged batch;
    std::vector<at::Tensor> samples, positions;
    for (const std::int64_t length : lengths) {
        batch.samples_B.push_back(first_sample + static_cast<std::int64_t>(batch.samples_B.size()));
        batch.starts_B1.push_back(batch.starts_B1.back() + length);
        samples.push_back(at::full({length}, batch.samples_B.back(), at::TensorOptions(at::kLong)));
        positions.push_back(at::arange(length, at::TensorOptions(at::kLong)));
    }
    batch.rows = {at::cat(samples), at::cat(positions)};
    return batch;
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

/// Bound on the relative error of a whole tensor of this type that rounding alone explains.
inline double rounding_bound(const at::Tensor& result) { return result.scalar_type() == at::kBFloat16 ? 2.5e-3 : 3e-6; }

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
