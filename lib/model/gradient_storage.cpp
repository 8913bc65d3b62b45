#include "model/gradient_storage.h"

#include <ATen/ATen.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr std::int64_t narrow_bytes = 2, wide_bytes = 4;

/// Elements of the flat buffer, from the first, that are bf16.
std::int64_t narrow_elements_of(const ParameterLayout& layout, bool narrow) {
    if (!narrow) return 0;
    for (const PlacedParameter& parameter : layout.parameters())
        if (parameter.spec.wide_gradient) return layout.buckets()[parameter.bucket].begin;
    return layout.flat_elements();
}

}  // namespace

GradientStorage::GradientStorage(const ParameterLayout& layout, bool narrow, at::Device device)
    : bytes_(at::zeros({bytes(layout, narrow)}, at::TensorOptions(device).dtype(at::kByte))),
      narrow_elements_(narrow_elements_of(layout, narrow)) {}

std::int64_t GradientStorage::bytes(const ParameterLayout& layout, bool narrow) {
    return layout.flat_elements() * wide_bytes - narrow_elements_of(layout, narrow) * (wide_bytes - narrow_bytes);
}

at::Tensor GradientStorage::range(std::int64_t begin, std::int64_t elements) const {
    if (begin < narrow_elements_) {
        check(begin + elements <= narrow_elements_, "gradients of two types were asked for as one");
        return bytes_.narrow(0, begin * narrow_bytes, elements * narrow_bytes).view(at::kBFloat16);
    }
    const std::int64_t first = narrow_elements_ * narrow_bytes + (begin - narrow_elements_) * wide_bytes;
    return bytes_.narrow(0, first, elements * wide_bytes).view(at::kFloat);
}

at::Tensor GradientStorage::front(std::int64_t elements) const {
    return bytes_.narrow(0, 0, elements * wide_bytes).view(at::kFloat);
}

void GradientStorage::zero() const { bytes_.zero_(); }

}  // namespace bertpretrain
