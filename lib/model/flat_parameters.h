#pragma once
// The weights and gradients that the model computes with, in flat buffers with views by name.

#include <string>

#include <ATen/core/Tensor.h>

#include "model/gradient_storage.h"
#include "model/parameter_layout.h"

namespace bertpretrain {

/// Parameters with weight decay (matrices) have the compute dtype. Exempt ones (biases, LayerNorm) stay fp32, because bf16
/// numbers near 1 are 1/128 apart. Gradients are fp32; those of matrices may be bf16 to save memory.
class FlatParameters {
public:
    /// bf16: bf16 for matrices except the embedding tables, where each row sums the gradients of many tokens.
    /// none: for inference; gradient() returns undefined tensors, and no function that returns or zeroes all may be called.
    enum class Gradients { fp32, bf16, none };

    FlatParameters(ParameterLayout layout, at::ScalarType compute_dtype, at::Device device,
                   Gradients gradients = Gradients::fp32);

    const ParameterLayout& layout() const { return layout_; }
    at::ScalarType compute_dtype() const { return compute_weights_.scalar_type(); }
    at::Device device() const { return compute_weights_.device(); }

    const at::Tensor& compute_weights() const { return compute_weights_; }  ///< flat_elements(); the exempt part is not used
    const GradientStorage& gradient_storage() const { return gradients_; }
    /// fp32, flat_elements(). @throws std::logic_error if some gradients are bf16
    at::Tensor gradients() const { return gradients_.range(0, layout_.flat_elements()); }
    void zero_gradients() const { gradients_.zero(); }
    /// Prepares the gradients for a step whose first micro-batch is computed with accumulate = false.
    void begin_gradients() const { gradients_.zero_others(); }
    /// The exempt parameters in fp32: its element i is element fp32_begin() + i of a flat buffer.
    const at::Tensor& fp32() const { return fp32_; }
    std::int64_t fp32_begin() const { return fp32_begin_; }

    /// A view of a parameter as the model uses it, or of its gradient, in the parameter's shape.
    at::Tensor weight(const std::string& name) const { return view(name, 1, false); }
    at::Tensor gradient(const std::string& name) const { return view(name, 1, true); }
    /// A view of `count` adjacent parameters of one shape, starting with the named one, as one with `count` times the rows.
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
