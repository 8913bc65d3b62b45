// Runs the trainer's optimizer on given weights and gradients, so that another implementation can be compared with it:
//   run_optimizer <REQUEST
// Standard input is one JSON object: "optimizer" (settings as in an experiment), "tensors" [{"name", "decays", "weights": [...]}]
// and "gradients" (per step, per tensor, a list of numbers). Prints the fp32 weights after the last step, per tensor, as JSON.
#include <iostream>

#include <ATen/ops/zeros.h>
#include <nlohmann/json.hpp>

#include "config/read.h"
#include "core/output/guard.h"
#include "optimizer/sharded_optimizer.h"

using namespace bertpretrain;

namespace {

ParameterLayout layout_of(const nlohmann::json& tensors) {
    std::vector<ParameterSpec> specs;
    for (const auto& tensor : tensors)
        specs.push_back({.name = tensor.at("name"),
                         .shape = {static_cast<std::int64_t>(tensor.at("weights").size())},
                         .decays = tensor.at("decays")});
    return {specs, 1, 1};
}

void fill(const at::Tensor& flat, const PlacedParameter& parameter, const std::vector<float>& values) {
    std::copy(values.begin(), values.end(), flat.mutable_data_ptr<float>() + parameter.begin);
}

}  // namespace

int main() {
    return run_guarded([] {
        const auto wanted = nlohmann::json::parse(std::cin);
        const auto config = read_config<OptimizerConfig>(wanted.at("optimizer"), "optimizer");
        const ParameterLayout layout = layout_of(wanted.at("tensors"));
        ShardedOptimizer optimizer(config, layout, 0);
        const at::Tensor weights = at::zeros({layout.flat_elements()}), gradient = at::zeros({layout.flat_elements()});
        for (std::size_t i = 0; i < layout.parameters().size(); ++i)
            fill(optimizer.state().master, layout.parameters()[i], wanted.at("tensors")[i].at("weights"));
        NoExchange exchange;
        std::int64_t step = 0;
        for (const auto& gradients : wanted.at("gradients")) {
            for (std::size_t i = 0; i < layout.parameters().size(); ++i) fill(gradient, layout.parameters()[i], gradients[i]);
            optimizer.update(gradient, weights, config.learning_rate, ++step, exchange);
        }
        auto printed = nlohmann::json::array();
        for (const PlacedParameter& parameter : layout.parameters()) {
            const float* begin = weights.const_data_ptr<float>() + parameter.begin;
            printed.push_back(std::vector<float>(begin, begin + parameter.spec.elements()));
        }
        std::cout << printed << "\n";
        return 0;
    });
}
