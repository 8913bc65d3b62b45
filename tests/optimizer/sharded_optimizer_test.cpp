#include "optimizer/sharded_optimizer.h"

#include <cmath>
#include <limits>

#include <ATen/ops/equal.h>
#include <ATen/ops/zeros_like.h>

#include "optimizer/oracle.h"
#include "optimizer/problem.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

OptimizerConfig config_of(const std::string& name, double clip) {
    return {.name = choice_named<OptimizerName>(name),
            .learning_rate = 0.01,
            .betas = {0.9, 0.999},
            .eps = 1e-6,
            .weight_decay = 0.01,
            .max_grad_norm = clip};
}

/// One shard that owns everything, with the problem's weights.
struct Run {
    ParameterLayout layout = problem_layout(1);
    ShardedOptimizer optimizer;
    at::Tensor compute_weights = problem_weights(layout);
    NoExchange exchange;

    explicit Run(const OptimizerConfig& config, const OptimizerKernels* kernels = nullptr)
        : optimizer(config, layout, 0, at::kCPU, kernels) {
        optimizer.state().master.copy_(compute_weights);
    }
    UpdateResult step(int t) { return optimizer.update(problem_gradients(layout, t), compute_weights, 0.01, t, exchange); }
};

Oracle oracle_of(const OptimizerConfig& config, const ParameterLayout& layout) {
    Oracle oracle{std::string(name_of(config.name)),
                  config.betas[0],
                  config.betas[1],
                  config.eps,
                  config.weight_decay,
                  config.max_grad_norm,
                  config.learning_rate,
                  {}};
    const auto weights = tensors_of(layout, problem_weights(layout));
    for (std::size_t p = 0; p < weights.size(); ++p) {
        const std::vector<double> zeros(weights[p].size());
        oracle.tensors.push_back({{weights[p].begin(), weights[p].end()}, zeros, zeros, layout.parameters()[p].spec.decays});
    }
    return oracle;
}

/// The largest difference between elements, relative to the largest element.
double difference(const std::vector<float>& ours, const std::vector<double>& oracle) {
    double largest = 0, scale = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        largest = std::max(largest, std::abs(static_cast<double>(ours[i]) - oracle[i]));
        scale = std::max(scale, std::abs(oracle[i]));
    }
    return scale == 0 ? largest : largest / scale;
}

}  // namespace

TEST_CASE("AdamW, LAMB, LANS and StableAdamW follow the formulas in float64 to 1e-6 over 20 steps") {
    const std::string name = GENERATE("adamw", "lamb", "lans", "stable_adamw");
    const bool reference = GENERATE(false, true);
    const double clip = reference ? 0.5 : GENERATE(0.0, 0.5, 1000.0);
    CAPTURE(name, clip, reference);
    const OptimizerConfig config = config_of(name, clip);
    Run run(config, reference ? &reference_optimizer_kernels() : &cpu_optimizer_kernels());
    Oracle oracle = oracle_of(config, run.layout);
    for (int t = 1; t <= 20; ++t) {
        std::vector<std::vector<double>> gradients;
        for (const auto& g : tensors_of(run.layout, problem_gradients(run.layout, t))) gradients.emplace_back(g.begin(), g.end());
        const double norm = oracle.step(gradients, 0.01, t);
        const UpdateResult result = run.step(t);
        REQUIRE(result.grad_norm == Approx(norm).epsilon(1e-12));
        REQUIRE(!result.skipped);
    }
    const auto weights = tensors_of(run.layout, run.compute_weights);
    const auto exp_avg = tensors_of(run.layout, run.optimizer.state().exp_avg);
    const auto exp_avg_sq = tensors_of(run.layout, run.optimizer.state().exp_avg_sq);
    for (std::size_t p = 0; p < weights.size(); ++p) {
        CAPTURE(run.layout.parameters()[p].spec.name);
        CHECK(difference(weights[p], oracle.tensors[p].w) < 1e-6);
        CHECK(difference(exp_avg[p], oracle.tensors[p].m) < 1e-6);
        CHECK(difference(exp_avg_sq[p], oracle.tensors[p].v) < 1e-6);
    }
}

TEST_CASE("a gradient of zeros leaves a tensor unchanged, or only decays it") {
    const std::string name = GENERATE("adamw", "lamb", "lans", "stable_adamw");
    CAPTURE(name);
    Run run(config_of(name, 1));
    const auto before = tensors_of(run.layout, run.compute_weights);
    for (int t = 1; t <= 5; ++t) run.step(t);
    const auto after = tensors_of(run.layout, run.compute_weights);
    const std::size_t key_bias = run.layout.index_of("key.bias"), idle = run.layout.index_of("idle.weight");
    CHECK(after[key_bias] == before[key_bias]);
    // Only decay changes it: r = c = decay * w. LAMB and LANS scale r to the norm of w, AdamW does not. StableAdamW's decay is a
    // share of the weight at the peak rate.
    const double rate = name == "adamw" ? 0.01 * 0.01 : 0.01;
    for (std::size_t i = 0; i < before[idle].size(); ++i)
        CHECK(after[idle][i] == Approx(before[idle][i] * std::pow(1 - rate, 5)).epsilon(1e-6));
}

TEST_CASE("LAMB without weight decay takes AdamW's steps: like apex, it applies no trust ratio") {
    OptimizerConfig lamb = config_of("lamb", 1), adamw = config_of("adamw", 1);
    lamb.weight_decay = adamw.weight_decay = 0;
    Run scaled(lamb), plain(adamw);
    for (int t = 1; t <= 5; ++t) {
        scaled.step(t);
        plain.step(t);
    }
    const auto of_lamb = tensors_of(scaled.layout, scaled.compute_weights),
               of_adamw = tensors_of(plain.layout, plain.compute_weights);
    for (std::size_t p = 0; p < of_lamb.size(); ++p)
        CHECK(difference(of_lamb[p], std::vector<double>(of_adamw[p].begin(), of_adamw[p].end())) < 1e-6);
}

TEST_CASE("StableAdamW's weight decay follows the peak that was set last, and the other optimizers' does not") {
    const std::string name = GENERATE("adamw", "lamb", "lans", "stable_adamw");
    CAPTURE(name);
    OptimizerConfig doubled = config_of(name, 1);
    doubled.learning_rate *= 2;
    Run set(config_of(name, 1)), made(doubled);
    set.optimizer.set_peak_rate(doubled.learning_rate);
    for (int t = 1; t <= 3; ++t) {
        set.step(t);
        made.step(t);
    }
    CHECK(at::equal(set.compute_weights, made.compute_weights));
}

TEST_CASE("a gradient that is not finite, or whose square is not, changes nothing") {
    const std::string name = GENERATE("adamw", "lamb", "lans", "stable_adamw");
    const float bad = GENERATE(std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity(), 1e30F);
    CAPTURE(name, bad);
    Run run(config_of(name, 0));
    run.step(1);
    const OptimizerState& state = run.optimizer.state();
    const at::Tensor before[] = {state.master.clone(), state.exp_avg.clone(), state.exp_avg_sq.clone(),
                                 run.compute_weights.clone()};
    at::Tensor gradient = problem_gradients(run.layout, 2);
    gradient.mutable_data_ptr<float>()[run.layout.parameters()[5].begin + 7'199] = bad;
    CHECK(run.optimizer.update(gradient, run.compute_weights, 0.01, 2, run.exchange).skipped);
    CHECK(at::equal(state.master, before[0]));
    CHECK(at::equal(state.exp_avg, before[1]));
    CHECK(at::equal(state.exp_avg_sq, before[2]));
    CHECK(at::equal(run.compute_weights, before[3]));
    CHECK(!run.step(2).skipped);
}

TEST_CASE("bf16 compute weights are rounded like ATen rounds, and padding stays unchanged") {
    const std::string name = GENERATE("adamw", "lamb", "lans", "stable_adamw");
    Run run(config_of(name, 1));
    at::Tensor compute_weights = at::zeros_like(run.compute_weights, run.compute_weights.options().dtype(at::kBFloat16));
    run.optimizer.update(problem_gradients(run.layout, 1), compute_weights, 0.01, 1, run.exchange);
    CHECK(at::equal(compute_weights, run.optimizer.state().master.to(at::kBFloat16)));
    const at::Tensor untouched = run.compute_weights.clone().fill_(7);
    run.compute_weights.fill_(7);
    run.optimizer.update(problem_gradients(run.layout, 2), run.compute_weights, 0.01, 2, run.exchange);
    std::int64_t changed = 0;
    for (std::int64_t i = 0; i < run.compute_weights.numel(); ++i) changed += run.compute_weights.const_data_ptr<float>()[i] != 7;
    CHECK(changed == run.layout.parameter_elements());
}

TEST_CASE("one slice of the whole flat buffer gives the same weights as one slice of one shard") {
    const OptimizerConfig config = config_of("lans", 1);
    Run run(config);
    const ParameterLayout cut = problem_layout(3);
    ShardedOptimizer whole(config, cut, std::nullopt);
    at::Tensor compute_weights = problem_weights(cut);
    whole.state().master.copy_(compute_weights);
    for (int t = 1; t <= 3; ++t) {
        run.step(t);
        whole.update(problem_gradients(cut, t), compute_weights, 0.01, t, run.exchange);
    }
    CHECK(tensors_of(cut, compute_weights) == tensors_of(run.layout, run.compute_weights));
}
