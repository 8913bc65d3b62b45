#pragma once
// What the model computes with: weights and gradients of all parameters in flat buffers, seen by name.

#include <string>

#include <ATen/core/Tensor.h>

#include "model/gradient_storage.h"
#include "model/parameter_layout.h"

namespace bertpretrain {

/// Decaying parameters (matrices) are in the run's precision; exempt ones (biases, LayerNorm) stay fp32, for a bf16 near 1
/// moves in steps of 1/128. Gradients of both are fp32, or bf16 for matrices where memory is short.
class FlatParameters {
public:
    /// bf16: bf16 for matrices but not for the embedding tables, each of whose rows adds up many tokens' gradients.
    /// none: for a model that is only used; its gradients are not to be touched.
    enum class Gradients { fp32, bf16, none };

    FlatParameters(ParameterLayout layout, at::ScalarType compute_dtype, at::Device device,
                   Gradients gradients = Gradients::fp32);

    const ParameterLayout& layout() const { return layout_; }
    at::ScalarType compute_dtype() const { return compute_weights_.scalar_type(); }
    at::Device device() const { return compute_weights_.device(); }

    const at::Tensor& compute_weights() const { return compute_weights_; }  ///< flat_elements(); its exempt part is not used
    const GradientStorage& gradient_storage() const { return gradients_; }
    /// fp32, flat_elements(). @throws std::logic_error when they are narrow
    at::Tensor gradients() const { return gradients_.range(0, layout_.flat_elements()); }
    void zero_gradients() const { gradients_.zero(); }
    /// For a step whose first micro-batch says accumulate = false.
    void begin_gradients() const { gradients_.zero_others(); }
    /// fp32, the exempt parameters: element i of it is element fp32_begin() + i of a flat buffer.
    const at::Tensor& fp32() const { return fp32_; }
    std::int64_t fp32_begin() const { return fp32_begin_; }

    /// A parameter as the model uses it, and its gradient, in its own shape.
    at::Tensor weight(const std::string& name) const { return view(name, 1, false); }
    at::Tensor gradient(const std::string& name) const { return view(name, 1, true); }
    /// `count` parameters of one shape that adjoin each other, the first named, seen as one with `count` times the rows.
    at::Tensor fused_weight(const std::string& first, std::int64_t count) const { return view(first, count, false); }
    at::Tensor fused_gradient(const std::string& first, std::int64_t count) const { return view(first, count, true); }

private:
    at::Tensor view(const std::string& name, std::int64_t count, bool of_gradient) const;

    ParameterLayout layout_;
    std::int64_t fp32_begin_;
    at::Tensor compute_weights_, fp32_;
    GradientStorage gradients_;
};

}  // namespace bertpretrain
