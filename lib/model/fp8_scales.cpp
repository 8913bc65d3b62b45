#include "model/fp8_scales.h"

#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr std::size_t linears = 4, roles = 3;

std::size_t site_of(std::int64_t layer, LayerLinear linear, LinearRole role) {
    return (static_cast<std::size_t>(layer) * linears + static_cast<std::size_t>(linear)) * roles +
           static_cast<std::size_t>(role);
}

at::ScalarType type_of(LinearRole role) { return role == LinearRole::gradient ? at::kFloat8_e5m2 : at::kFloat8_e4m3fn; }

/// Returns the exponent of the scale that leaves one bit to spare above `largest`.
int exponent_of(double largest, LinearRole role) {
    const double half_of_type = role == LinearRole::gradient ? 57344 / 2.0 : 448 / 2.0;
    return std::clamp(std::ilogb(half_of_type / largest), -100, 100);
}

}  // namespace

Fp8Scales::Fp8Scales(std::int64_t layers, at::Device device)
    : known_(static_cast<std::size_t>(layers) * linears * roles, 0), weights_(static_cast<std::size_t>(layers) * linears) {
    const at::TensorOptions fp32(device);
    const auto sites = static_cast<std::int64_t>(known_.size());
    scale_S = at::ones({sites}, fp32), inverse_S = at::ones({sites}, fp32), largest_S = at::zeros({sites}, fp32);
}

Quantizer Fp8Scales::quantizer(std::int64_t layer, LayerLinear linear, LinearRole role) const {
    const auto site = static_cast<std::int64_t>(site_of(layer, linear, role));
    return {type_of(role), scale_S[site], largest_S[site]};
}

at::Tensor Fp8Scales::inverse_scale(std::int64_t layer, LayerLinear linear, LinearRole role) const {
    return inverse_S[static_cast<std::int64_t>(site_of(layer, linear, role))];
}

Fp8Operand& Fp8Scales::weight(std::int64_t layer, LayerLinear linear) {
    return weights_[static_cast<std::size_t>(layer) * linears + static_cast<std::size_t>(linear)];
}

void Fp8Scales::begin_step() {
    largest_S.zero_();
    weights_.assign(weights_.size(), {});
}

std::vector<double> Fp8Scales::word() const {
    const at::Tensor host_S = largest_S.to(at::kCPU).to(at::kDouble);
    return {host_S.const_data_ptr<double>(), host_S.const_data_ptr<double>() + host_S.numel()};
}

void Fp8Scales::hear(const std::vector<double>& of_all) {
    if (!std::all_of(of_all.begin(), of_all.end(), [](double one) { return std::isfinite(one); })) return;
    std::vector<double> largest(known_.size(), 0);
    for (std::size_t i = 0; i < of_all.size(); ++i) {
        double& of_site = largest[i % known_.size()];
        of_site = std::max(of_site, of_all[i]);
    }
    use(largest);
}

void Fp8Scales::use(const std::vector<double>& largest) {
    std::vector<float> scale(known_.size()), inverse(known_.size());
    for (std::size_t site = 0; site < known_.size(); ++site) {
        if (largest[site] > 0) known_[site] = largest[site];
        const auto role = static_cast<LinearRole>(site % roles);
        const int exponent = known_[site] > 0 ? exponent_of(known_[site], role) : 0;
        scale[site] = std::ldexp(1.0F, exponent), inverse[site] = std::ldexp(1.0F, -exponent);
    }
    weights_.assign(weights_.size(), {});
    scale_S.copy_(at::tensor(scale));
    inverse_S.copy_(at::tensor(inverse));
    ready_ = true;
}

std::vector<double> Fp8Scales::state() const { return ready_ ? known_ : std::vector<double>(); }

void Fp8Scales::restore(const std::vector<double>& state) {
    known_.assign(known_.size(), 0);
    ready_ = false;
    if (state.empty()) return;
    if (state.size() != known_.size())
        throw CheckpointError(concat("training_state.json: damaged: fp8_magnitudes has ", state.size(), " numbers, expected ",
                                     known_.size(), "\n  do: restore an undamaged copy, or resume from another step"));
    use(state);
}

}  // namespace bertpretrain
