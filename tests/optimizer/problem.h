#pragma once
// The tensors of a small model. Weights and gradients depend only on (tensor, element), not on the layout.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>

#include "core/random.h"
#include "model/parameter_layout.h"

namespace bertpretrain::testing {

/// Odd sizes, tensors larger than a block, tensors that share a block, one weight that is zero, one gradient that is always zero.
inline std::vector<ParameterSpec> problem_specs() {
    return {{"head.weight", {67, 131}, true}, {"head.bias", {67}, false},      {"zero.weight", {9, 7}, true},
            {"norm.weight", {1}, false},      {"key.bias", {96}, false},       {"embedding.weight", {2400, 3}, true},
            {"idle.weight", {33}, true},      {"exact.weight", {64, 64}, true}};
}
inline constexpr std::int64_t problem_bucket_elements = 9000;

inline ParameterLayout problem_layout(std::int64_t shards) {
    return ParameterLayout(problem_specs(), problem_bucket_elements, shards);
}

/// The values of one tensor; the standard deviation differs by tensor.
inline std::vector<float> problem_values(const std::string& name, std::size_t tensor, std::int64_t elements, bool gradient,
                                         std::uint32_t step) {
    std::vector<float> values(static_cast<std::size_t>(elements));
    if (!gradient && name.starts_with("zero")) return values;
    if (gradient && (name == "key.bias" || name == "idle.weight")) return values;
    const float scale = (gradient ? 0.3F : 0.5F) / static_cast<float>(1 + 3 * tensor);
    RandomSequence random(gradient ? 2 : 1, Purpose::initial_weights, tensor, step);
    for (float& value : values) value = scale * (2 * random.uniform() - 1);
    return values;
}

/// A flat fp32 buffer of a layout with the values of all tensors; padding is 0.
inline at::Tensor problem_buffer(const ParameterLayout& layout, bool gradient, std::uint32_t step) {
    at::Tensor flat = at::zeros({layout.flat_elements()});
    for (std::size_t p = 0; p < layout.parameters().size(); ++p) {
        const PlacedParameter& parameter = layout.parameters()[p];
        const auto values = problem_values(parameter.spec.name, p, parameter.spec.elements(), gradient, step);
        std::copy(values.begin(), values.end(), flat.mutable_data_ptr<float>() + parameter.begin);
    }
    return flat;
}
inline at::Tensor problem_weights(const ParameterLayout& layout) { return problem_buffer(layout, false, 0); }
inline at::Tensor problem_gradients(const ParameterLayout& layout, std::int64_t step) {
    return problem_buffer(layout, true, static_cast<std::uint32_t>(step));
}

/// The values of all tensors of a flat buffer, without padding.
inline std::vector<std::vector<float>> tensors_of(const ParameterLayout& layout, const at::Tensor& flat) {
    std::vector<std::vector<float>> tensors;
    for (const PlacedParameter& parameter : layout.parameters()) {
        const float* begin = flat.const_data_ptr<float>() + parameter.begin;
        tensors.emplace_back(begin, begin + parameter.spec.elements());
    }
    return tensors;
}

}  // namespace bertpretrain::testing
