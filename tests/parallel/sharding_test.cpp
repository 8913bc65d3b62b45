// The promise of ZeRO-1 here: how many ranks share the optimizer's state cannot be seen in the weights.
#include <ATen/ops/zeros.h>

#include "optimizer/problem.h"
#include "optimizer/sharded_optimizer.h"
#include "parallel/block_sum_exchange.h"
#include "parallel/gradient_buckets.h"
#include "support/catch.h"
#include "support/run_ranks.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

struct Outcome {
    std::vector<std::vector<float>> weights;
    std::vector<double> norms;
    bool operator==(const Outcome&) const = default;
};

/// Five steps with the gradients coming from the last rank alone, so that their sum is exact for any number of ranks.
Outcome train(const OptimizerConfig& config, std::int64_t ranks, const OptimizerKernels* kernels) {
    const ParameterLayout layout = problem_layout(ranks);
    std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
    run_ranks(ranks, [&](World& world) {
        const at::Tensor gradients = at::zeros({layout.flat_elements()}), working = problem_weights(layout);
        GradientBuckets buckets(layout, world, gradients, working);
        ShardedOptimizer optimizer(config, layout, world.rank(), at::kCPU, kernels);
        for (const OwnedRun& run : optimizer.owned_runs())
            optimizer.state().master.narrow(0, run.in_slice, run.elements).copy_(working.narrow(0, run.in_flat, run.elements));
        WorldExchange exchange(world);
        Outcome& outcome = outcomes[static_cast<std::size_t>(world.rank())];
        for (int t = 1; t <= 5; ++t) {
            if (world.rank() == ranks - 1) gradients.copy_(problem_gradients(layout, t));
            else gradients.zero_();
            for (std::size_t b = 0; b < layout.buckets().size(); ++b) buckets.ready(b);
            const at::Tensor& slice = buckets.finish();
            outcome.norms.push_back(optimizer.update(slice, buckets.working_slice(), 0.01, t, exchange).grad_norm);
            buckets.gather();
        }
        outcome.weights = tensors_of(layout, working);
    });
    for (const Outcome& outcome : outcomes) REQUIRE(outcome == outcomes.front());
    return outcomes.front();
}

}  // namespace

TEST_CASE("1, 2, 3 and 5 shards give the same weights to the last bit") {
    const std::string name = GENERATE("adamw", "lamb", "lans");
    const bool reference = GENERATE(false, true);
    CAPTURE(name, reference);
    const OptimizerKernels* kernels = reference ? &reference_optimizer_kernels() : nullptr;
    const OptimizerConfig config{name, 0.01, {0.9, 0.999}, 1e-6, 0.01, 0.5};
    const Outcome one = train(config, 1, kernels);
    for (const std::int64_t ranks : {2, 3, 5}) {
        CAPTURE(ranks);
        const Outcome many = train(config, ranks, kernels);
        CHECK(many.norms == one.norms);
        for (std::size_t p = 0; p < one.weights.size(); ++p) {
            CAPTURE(problem_specs()[p].name);
            CHECK((many.weights[p] == one.weights[p]));
        }
    }
}
