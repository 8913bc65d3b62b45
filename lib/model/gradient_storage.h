#pragma once
// Gradients of all parameters in one piece of memory.

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "model/parameter_layout.h"

namespace bertpretrain {

/// fp32, or bf16 for the parameters in front and fp32 behind them. As one piece it also serves for the sums over ranks: a rank's
/// slices, in fp32, fit into the front of it, whatever the gradients there were.
class GradientStorage {
public:
    GradientStorage() = default;  ///< of no parameters: all members are not to be called
    /// Zeros. @param narrow bf16 for those parameters of which the layout allows it
    GradientStorage(const ParameterLayout& layout, bool narrow, at::Device device);

    /// What it takes.
    static std::int64_t bytes(const ParameterLayout& layout, bool narrow);

    bool defined() const { return bytes_.defined(); }
    /// Elements of the flat buffer, from the first, that are bf16.
    std::int64_t bf16_elements() const { return bf16_elements_; }

    /// Elements [begin, begin + elements) of the flat buffer, all bf16 or all fp32.
    at::Tensor range(std::int64_t begin, std::int64_t elements) const;
    /// The memory in front, seen as fp32: sums over ranks, where they have taken the place of gradients.
    at::Tensor front(std::int64_t elements) const;

    void zero() const;
    /// Zeroes all but those gradients that can begin with a product (ParameterSpec::product_gradient); there, anything may be.
    void zero_others() const;

private:
    std::int64_t byte_of(std::int64_t element) const;

    at::Tensor bytes_;
    std::int64_t bf16_elements_ = 0;
    std::vector<at::Tensor> others_;
};

}  // namespace bertpretrain
