// The weights do not depend on how many ranks share the optimizer's state (ZeRO-1).
#include <algorithm>

#include <ATen/ops/cat.h>

#include "optimizer/problem.h"
#include "optimizer/sharded_optimizer.h"
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

/// Returns all weights that the model uses: matrices from the compute-dtype buffer, exempt weights from the fp32 buffer.
at::Tensor seen_weights(const FlatParameters& parameters) {
    return at::cat({parameters.compute_weights().narrow(0, 0, parameters.fp32_begin()), parameters.fp32()});
}

/// As in a model's layout, exempt tensors come last.
ParameterLayout model_like_layout(std::int64_t shards) {
    std::vector<ParameterSpec> specs = problem_specs();
    std::stable_partition(specs.begin(), specs.end(), [](const ParameterSpec& spec) { return spec.decays; });
    return ParameterLayout(specs, problem_bucket_elements, shards);
}

struct WorldChoice {
    std::int64_t ranks = 1, zero_stage = 1;
    const OptimizerKernels* kernels = nullptr;
};

/// Takes five steps with gradients from the last rank only, so that their sum is exact for any number of ranks.
Outcome train(const OptimizerConfig& config, const WorldChoice& setting) {
    std::vector<Outcome> outcomes(static_cast<std::size_t>(setting.ranks));
    run_ranks(setting.ranks, [&](World& world) {
        const FlatParameters parameters(model_like_layout(setting.ranks), at::kFloat, at::kCPU);
        const ParameterLayout& layout = parameters.layout();
        const at::Tensor weights = problem_weights(layout);
        GradientBuckets buckets(parameters, world, {.zero_stage = setting.zero_stage});
        const auto shard = setting.zero_stage == 0 ? std::nullopt : std::optional(world.rank());
        ShardedOptimizer optimizer(config, layout, shard, at::kCPU, setting.kernels);
        for (const OwnedRun& run : optimizer.owned_runs())
            optimizer.state().master.narrow(0, run.in_slice, run.elements).copy_(weights.narrow(0, run.in_flat, run.elements));
        optimizer.copy_weights_into(parameters.compute_weights());
        WorldExchange between(world);
        NoExchange within;
        BlockSumExchange& exchange = shard ? static_cast<BlockSumExchange&>(between) : within;
        Outcome& outcome = outcomes[static_cast<std::size_t>(world.rank())];
        for (int t = 1; t <= 5; ++t) {
            at::Tensor gradients = parameters.gradients();
            if (world.rank() == setting.ranks - 1) gradients.copy_(problem_gradients(layout, t));
            else gradients.zero_();
            for (std::size_t b = 0; b < layout.buckets().size(); ++b) buckets.ready(b);
            outcome.norms.push_back(
                optimizer.update(buckets.finish(), parameters.compute_weights(), 0.01, t, exchange).grad_norm);
            buckets.start_gather(optimizer.state().master);
            buckets.wait_all();
        }
        outcome.weights = tensors_of(layout, seen_weights(parameters));
    });
    for (const Outcome& outcome : outcomes) REQUIRE(outcome == outcomes.front());
    return outcomes.front();
}

}  // namespace

TEST_CASE("1, 2, 3 and 5 shards, and ZeRO stages 0 and 1, give the same weights to the last bit") {
    const std::string name = GENERATE("adamw", "lamb", "lans", "stable_adamw");
    const bool reference = GENERATE(false, true);
    CAPTURE(name, reference);
    const OptimizerKernels* kernels = reference ? &reference_optimizer_kernels() : nullptr;
    const OptimizerConfig config{choice_named<OptimizerName>(name), 0.01, {0.9, 0.999}, 1e-6, 0.01, 0.5};
    const Outcome one = train(config, {1, 1, kernels});
    for (const WorldChoice& setting : {WorldChoice{2, 1}, {3, 1}, {5, 1}, {1, 0}, {2, 0}, {3, 0}}) {
        CAPTURE(setting.ranks, setting.zero_stage);
        const Outcome many = train(config, {setting.ranks, setting.zero_stage, kernels});
        CHECK(many.norms == one.norms);
        for (std::size_t p = 0; p < one.weights.size(); ++p) {
            CAPTURE(p);
            CHECK((many.weights[p] == one.weights[p]));
        }
    }
}
