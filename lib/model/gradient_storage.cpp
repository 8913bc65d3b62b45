#include "model/gradient_storage.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr std::int64_t bf16_bytes = 2, fp32_bytes = 4;

/// Number of elements at the start of the flat buffer that are bf16.
std::int64_t bf16_elements_of(const ParameterLayout& layout, bool narrow) {
    if (!narrow) return 0;
    for (const PlacedParameter& parameter : layout.parameters())
        if (parameter.spec.fp32_gradient) return layout.buckets()[parameter.bucket].begin;
    return layout.flat_elements();
}

}  // namespace

GradientStorage::GradientStorage(const ParameterLayout& layout, bool narrow, at::Device device)
    : bytes_(at::zeros({bytes(layout, narrow)}, at::TensorOptions(device).dtype(at::kByte))),
      bf16_elements_(bf16_elements_of(layout, narrow)) {
    std::int64_t begin = 0;
    const auto take_until = [&](std::int64_t end) {
        if (begin < end) others_.push_back(bytes_.narrow(0, begin, end - begin));
    };
    for (const PlacedParameter& parameter : layout.parameters()) {
        if (!parameter.spec.product_gradient) continue;
        take_until(byte_of(parameter.begin));
        begin = byte_of(parameter.begin + parameter.spec.elements());
    }
    take_until(bytes_.numel());
}

std::int64_t GradientStorage::bytes(const ParameterLayout& layout, bool narrow) {
    return layout.flat_elements() * fp32_bytes - bf16_elements_of(layout, narrow) * (fp32_bytes - bf16_bytes);
}

at::Tensor GradientStorage::range(std::int64_t begin, std::int64_t elements) const {
    if (begin < bf16_elements_) {
        check(begin + elements <= bf16_elements_, "GradientStorage: the range contains both bf16 and fp32 gradients");
        return bytes_.narrow(0, byte_of(begin), elements * bf16_bytes).view(at::kBFloat16);
    }
    return bytes_.narrow(0, byte_of(begin), elements * fp32_bytes).view(at::kFloat);
}

at::Tensor GradientStorage::front(std::int64_t elements) const {
    return bytes_.narrow(0, 0, elements * fp32_bytes).view(at::kFloat);
}

std::int64_t GradientStorage::byte_of(std::int64_t element) const {
    return element * fp32_bytes - std::min(element, bf16_elements_) * (fp32_bytes - bf16_bytes);
}

void GradientStorage::zero() const { bytes_.zero_(); }

void GradientStorage::zero_others() const {
    for (const at::Tensor& others : others_) others.zero_();
}

}  // namespace bertpretrain
