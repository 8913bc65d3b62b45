// torch-optimi's StableAdamW as the oracle: the numbers are those of stable_adamw_oracle.py.
#include <algorithm>
#include <cmath>

#include <ATen/ops/zeros.h>

#include "optimizer/sharded_optimizer.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

constexpr double peak = 8e-4;
constexpr int steps = 20;

/// Every tenth part of the tensors' weights after the last step.
constexpr float optimi[2][10] = {{0.00088878622F, -0.00522371568F, 0.00307029928F, -0.00320250215F, -0.000594653189F,
                                  0.00164708751F, -0.00382249686F, 0.00587097229F, -0.00448527141F, 0.00585057447F},
                                 {0.0101839891F, 0.0173741486F, 0.00660631619F, -0.0102591589F, -0.0205975603F, -0.0169201102F,
                                  -0.00136442319F, 0.00937321968F, 0.019047711F, 0.0087771304F}};

double rate(int step) { return peak * std::min({1.0, step / 5.0, (steps + 1 - step) / 8.0}); }

template <class Value>
void fill(const at::Tensor& flat, const PlacedParameter& parameter, const Value& value) {
    float* const begin = flat.mutable_data_ptr<float>() + parameter.begin;
    for (std::int64_t i = 0; i < parameter.spec.elements(); ++i) begin[i] = static_cast<float>(value(static_cast<double>(i)));
}

}  // namespace

TEST_CASE("20 steps of StableAdamW are torch-optimi's to 1e-6 of a tensor's largest weight") {
    const bool reference = GENERATE(false, true);
    const ParameterLayout layout({{"table", {1000, 5}, true}, {"bias", {700}, false}}, 1, 1);
    ShardedOptimizer optimizer({OptimizerName::stable_adamw, peak, {0.9, 0.98}, 1e-6, 0.1, 0}, layout, 0, at::kCPU,
                               reference ? &reference_optimizer_kernels() : &cpu_optimizer_kernels());
    const at::Tensor gradient = at::zeros({layout.flat_elements()}), weights = at::zeros({layout.flat_elements()});
    for (const PlacedParameter& parameter : layout.parameters())
        fill(optimizer.state().master, parameter, [](double i) { return 0.02 * std::sin(i + 1); });
    NoExchange exchange;
    for (int step = 1; step <= steps; ++step) {
        const double scale = (step == 7 || step == 13 ? 30 : 1) * 1e-3;
        for (const PlacedParameter& parameter : layout.parameters())
            fill(gradient, parameter, [&](double i) { return scale * std::cos(i * step); });
        optimizer.update(gradient, weights, rate(step), step, exchange);
    }
    for (std::size_t p = 0; p < 2; ++p) {
        const PlacedParameter& parameter = layout.parameters()[p];
        const float* ours = weights.const_data_ptr<float>() + parameter.begin;
        const std::int64_t elements = parameter.spec.elements();
        const double largest = std::abs(*std::max_element(ours, ours + elements));
        for (std::int64_t i = 0; i < 10; ++i) {
            CAPTURE(p, i);
            CHECK(std::abs(ours[i * (elements / 10)] - optimi[p][i]) < 1e-6 * largest);
        }
    }
}
