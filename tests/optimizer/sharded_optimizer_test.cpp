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
    return {.name = name, .learning_rate = 0.01, .betas = {0.9, 0.999}, .eps = 1e-6, .weight_decay = 0.01, .max_grad_norm = clip};
}

/// One shard that owns all, with the problem's weights.
struct Run {
    ParameterLayout layout = problem_layout(1);
    ShardedOptimizer optimizer;
    at::Tensor working = problem_weights(layout);
    NoExchange exchange;

    explicit Run(const OptimizerConfig& config, const OptimizerKernels* kernels = nullptr)
        : optimizer(config, layout, 0, at::kCPU, kernels) {
        optimizer.state().master.copy_(working);
    }
    UpdateResult step(int t) { return optimizer.update(problem_gradients(layout, t), working, 0.01, t, exchange); }
};

Oracle oracle_of(const OptimizerConfig& config, const ParameterLayout& layout) {
    Oracle oracle{config.name, config.betas[0], config.betas[1], config.eps, config.weight_decay, config.max_grad_norm, {}};
    const auto weights = tensors_of(layout, problem_weights(layout));
    for (std::size_t p = 0; p < weights.size(); ++p) {
        const std::vector<double> zeros(weights[p].size());
        oracle.tensors.push_back({{weights[p].begin(), weights[p].end()}, zeros, zeros, layout.parameters()[p].spec.decays});
    }
    return oracle;
}

/// The largest difference between elements, as a share of the largest element.
double difference(const std::vector<float>& ours, const std::vector<double>& oracle) {
    double largest = 0, scale = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        largest = std::max(largest, std::abs(static_cast<double>(ours[i]) - oracle[i]));
        scale = std::max(scale, std::abs(oracle[i]));
    }
    return scale == 0 ? largest : largest / scale;
}

}  // namespace

TEST_CASE("AdamW, LAMB and LANS follow the formulas in float64 to 1e-6 over 20 steps") {
    const std::string name = GENERATE("adamw", "lamb", "lans");
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
    const auto weights = tensors_of(run.layout, run.working);
    const auto exp_avg = tensors_of(run.layout, run.optimizer.state().exp_avg);
    const auto exp_avg_sq = tensors_of(run.layout, run.optimizer.state().exp_avg_sq);
    for (std::size_t p = 0; p < weights.size(); ++p) {
        CAPTURE(run.layout.parameters()[p].spec.name);
        CHECK(difference(weights[p], oracle.tensors[p].w) < 1e-6);
        CHECK(difference(exp_avg[p], oracle.tensors[p].m) < 1e-6);
        CHECK(difference(exp_avg_sq[p], oracle.tensors[p].v) < 1e-6);
    }
}

TEST_CASE("a gradient of zeros leaves a tensor exactly where it is, or only decays it") {
    const std::string name = GENERATE("adamw", "lamb", "lans");
    CAPTURE(name);
    Run run(config_of(name, 1));
    const auto before = tensors_of(run.layout, run.working);
    for (int t = 1; t <= 5; ++t) run.step(t);
    const auto after = tensors_of(run.layout, run.working);
    const std::size_t key_bias = run.layout.index_of("key.bias"), idle = run.layout.index_of("idle.weight");
    CHECK(after[key_bias] == before[key_bias]);
    // Only decay moves it: r = c = decay * w. LAMB and LANS stretch that to the length of w, AdamW does not.
    const double rate = name == "adamw" ? 0.01 * 0.01 : 0.01;
    for (std::size_t i = 0; i < before[idle].size(); ++i)
        CHECK(after[idle][i] == Approx(before[idle][i] * std::pow(1 - rate, 5)).epsilon(1e-6));
}

TEST_CASE("LAMB without weight decay takes AdamW's steps: it scales no tensor by its trust ratio, as apex") {
    OptimizerConfig lamb = config_of("lamb", 1), adamw = config_of("adamw", 1);
    lamb.weight_decay = adamw.weight_decay = 0;
    Run scaled(lamb), plain(adamw);
    for (int t = 1; t <= 5; ++t) {
        scaled.step(t);
        plain.step(t);
    }
    const auto of_lamb = tensors_of(scaled.layout, scaled.working), of_adamw = tensors_of(plain.layout, plain.working);
    for (std::size_t p = 0; p < of_lamb.size(); ++p)
        CHECK(difference(of_lamb[p], std::vector<double>(of_adamw[p].begin(), of_adamw[p].end())) < 1e-6);
}

TEST_CASE("a gradient that is not finite, or whose square is not, changes nothing") {
    const std::string name = GENERATE("adamw", "lamb", "lans");
    const float bad = GENERATE(std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity(), 1e30F);
    CAPTURE(name, bad);
    Run run(config_of(name, 0));
    run.step(1);
    const OptimizerState& state = run.optimizer.state();
    const at::Tensor before[] = {state.master.clone(), state.exp_avg.clone(), state.exp_avg_sq.clone(), run.working.clone()};
    at::Tensor gradient = problem_gradients(run.layout, 2);
    gradient.mutable_data_ptr<float>()[run.layout.parameters()[5].begin + 7'199] = bad;
    CHECK(run.optimizer.update(gradient, run.working, 0.01, 2, run.exchange).skipped);
    CHECK(at::equal(state.master, before[0]));
    CHECK(at::equal(state.exp_avg, before[1]));
    CHECK(at::equal(state.exp_avg_sq, before[2]));
    CHECK(at::equal(run.working, before[3]));
    CHECK(!run.step(2).skipped);
}

TEST_CASE("the working copy in bf16 is the weights rounded as ATen rounds, and padding is left alone") {
    const std::string name = GENERATE("adamw", "lamb", "lans");
    Run run(config_of(name, 1));
    at::Tensor working = at::zeros_like(run.working, run.working.options().dtype(at::kBFloat16));
    run.optimizer.update(problem_gradients(run.layout, 1), working, 0.01, 1, run.exchange);
    CHECK(at::equal(working, run.optimizer.state().master.to(at::kBFloat16)));
    const at::Tensor untouched = run.working.clone().fill_(7);
    run.working.fill_(7);
    run.optimizer.update(problem_gradients(run.layout, 2), run.working, 0.01, 2, run.exchange);
    std::int64_t changed = 0;
    for (std::int64_t i = 0; i < run.working.numel(); ++i) changed += run.working.const_data_ptr<float>()[i] != 7;
    CHECK(changed == run.layout.parameter_elements());
}

TEST_CASE("one slice of the whole flat buffer gives what one slice of one shard gives") {
    const OptimizerConfig config = config_of("lans", 1);
    Run run(config);
    const ParameterLayout cut = problem_layout(3);
    ShardedOptimizer whole(config, cut, std::nullopt);
    at::Tensor working = problem_weights(cut);
    whole.state().master.copy_(working);
    for (int t = 1; t <= 3; ++t) {
        run.step(t);
        whole.update(problem_gradients(cut, t), working, 0.01, t, run.exchange);
    }
    CHECK(tensors_of(cut, working) == tensors_of(run.layout, run.working));
}
