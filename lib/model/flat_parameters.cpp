#include "model/flat_parameters.h"

#include <ATen/ATen.h>

namespace bertpretrain {
namespace {

std::int64_t first_fp32(const ParameterLayout& layout) {
    for (const PlacedParameter& parameter : layout.parameters())
        if (!parameter.spec.decays) return layout.buckets()[parameter.bucket].begin;
    return layout.flat_elements();
}

}  // namespace

FlatParameters::FlatParameters(ParameterLayout layout, at::ScalarType compute_dtype, at::Device device, Gradients gradients)
    : layout_(std::move(layout)), fp32_begin_(first_fp32(layout_)) {
    const auto options = at::TensorOptions(device);
    compute_weights_ = at::zeros({layout_.flat_elements()}, options.dtype(compute_dtype));
    fp32_ = at::zeros({layout_.flat_elements() - fp32_begin_}, options.dtype(at::kFloat));
    if (gradients != Gradients::none) gradients_ = GradientStorage(layout_, gradients == Gradients::bf16, device);
}

at::Tensor FlatParameters::view(const std::string& name, std::int64_t count, bool of_gradient) const {
    const PlacedParameter& parameter = layout_.parameters()[layout_.index_of(name)];
    const std::int64_t elements = parameter.spec.elements() * count;
    std::vector<std::int64_t> shape = parameter.spec.shape;
    shape.front() *= count;
    if (of_gradient) return gradients_.defined() ? gradients_.range(parameter.begin, elements).view(shape) : at::Tensor();
    const bool is_fp32 = !parameter.spec.decays;
    return (is_fp32 ? fp32_ : compute_weights_).narrow(0, parameter.begin - (is_fp32 ? fp32_begin_ : 0), elements).view(shape);
}

}  // namespace bertpretrain
