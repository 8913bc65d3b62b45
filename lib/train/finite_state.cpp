#include "train/finite_state.h"

#include <cmath>

#include <ATen/ATen.h>

namespace bertpretrain {
namespace {

bool is_finite(const at::Tensor& values) {
    if (values.numel() == 0) return true;
    const auto [least, most] = at::aminmax(values.flatten(), 0);  // both are NaN where there is one
    return std::isfinite(least.item<double>()) && std::isfinite(most.item<double>());
}

}  // namespace

bool is_finite(const OptimizerState& state) {
    return is_finite(state.master) && is_finite(state.exp_avg) && is_finite(state.exp_avg_sq);
}

}  // namespace bertpretrain
