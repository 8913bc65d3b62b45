#pragma once
// Gradients of all parameters in one block of memory.

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "model/parameter_layout.h"

namespace bertpretrain {

/// fp32, or bf16 for the first parameters of the layout and fp32 for the rest. The memory is also used for sums over ranks: a
/// rank's slices, in fp32, fit into its front, replacing the gradients that were there.
class GradientStorage {
public:
    GradientStorage() = default;  ///< no memory; no other member except defined() may be called
    /// Initialized to zeros. @param narrow use bf16 for the parameters for which the layout allows it
    GradientStorage(const ParameterLayout& layout, bool narrow, at::Device device);

    /// Size of the memory in bytes.
    static std::int64_t bytes(const ParameterLayout& layout, bool narrow);

    bool defined() const { return bytes_.defined(); }
    /// Number of elements at the start of the flat buffer that are bf16.
    std::int64_t bf16_elements() const { return bf16_elements_; }

    /// Returns elements [begin, begin + elements) of the flat buffer. @throws std::logic_error if they are not all of one dtype
    at::Tensor range(std::int64_t begin, std::int64_t elements) const;
    /// Returns the first `elements` fp32 elements of the memory, for sums over ranks that replace the gradients there.
    at::Tensor front(std::int64_t elements) const;

    void zero() const;
    /// Zeroes all gradients except those that a step may overwrite (ParameterSpec::product_gradient), which keep their old
    /// contents.
    void zero_others() const;

private:
    std::int64_t byte_of(std::int64_t element) const;

    at::Tensor bytes_;
    std::int64_t bf16_elements_ = 0;
    std::vector<at::Tensor> others_;
};

}  // namespace bertpretrain
