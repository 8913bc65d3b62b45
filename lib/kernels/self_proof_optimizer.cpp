#include "kernels/self_proof_optimizer.h"

#include <ATen/ATen.h>

namespace bertpretrain {
namespace {

constexpr double fp32_state_bound = 3e-6, bf16_weight_bound = 2.5e-3, square_sum_bound = 1e-6;

/// A slice whose runs begin and end inside blocks, with gaps and one run shorter than a vector register.
struct Slice {
    OptimizerState state;
    at::Tensor gradient;
    at::ScalarType compute_dtype;
    BlockedRuns blocks;
    std::vector<TensorFactors> factors{{0.5, 0.01, 0.1, 0.02}, {1, 0, 0.2, 0.01}};
};

BlockedRuns runs_of(std::int64_t elements) {
    const std::int64_t middle = elements / 3;
    return BlockedRuns({{0, 0, 0, 5}, {1, 64, 64, middle - 64}, {0, middle + 3, middle + 3, elements - middle - 10}});
}

/// Runs one rule on a copy of the slice and appends its results under the rule's name.
void add_results(std::vector<ProofResult>& results, const std::string& rule, const Slice& slice,
                 const std::function<void(const OptimizerPass&, std::span<double>)>& update) {
    const OptimizerState state{slice.state.master.clone(), slice.state.exp_avg.clone(), slice.state.exp_avg_sq.clone()};
    const at::Tensor compute_weights = at::zeros_like(slice.gradient, slice.gradient.options().dtype(slice.compute_dtype));
    const at::Tensor sums = at::zeros({static_cast<std::int64_t>(3 * slice.blocks.parts.size())}, at::kDouble);
    update({state, slice.gradient, compute_weights, slice.blocks, {0.9, 0.999, 1e-6, 0.19, 0.002}, slice.factors},
           {sums.mutable_data_ptr<double>(), static_cast<std::size_t>(sums.numel())});
    results.push_back({rule + "'s weights", state.master, fp32_state_bound});
    results.push_back({rule + "'s first moments", state.exp_avg, fp32_state_bound});
    results.push_back({rule + "'s second moments", state.exp_avg_sq, fp32_state_bound});
    results.push_back({rule + "'s rounded weights", compute_weights,
                       slice.compute_dtype == at::kBFloat16 ? bf16_weight_bound : fp32_state_bound});
    results.push_back({rule + "'s sums of squares", sums, square_sum_bound});
}

}  // namespace

ProofComputation optimizer_computation(ProofInputs in) {
    constexpr std::int64_t elements_per_token = 1024;
    const std::int64_t elements = in.tokens() * elements_per_token;
    const at::Tensor master = in.normal({elements}), exp_avg = in.normal({elements}), exp_avg_sq = in.normal({elements}).abs();
    const Slice slice{{master, exp_avg, exp_avg_sq}, in.normal({elements}), in.shape.compute_dtype, runs_of(elements)};
    return [=](const KernelSet& set) {
        const OptimizerKernels& kernels = *set.optimizer;
        std::vector<ProofResult> results;
        add_results(results, "AdamW", slice, [&](const OptimizerPass& pass, std::span<double> sums) {
            kernels.sum_squares(pass.gradient, pass.blocks, sums.first(pass.blocks.parts.size()));
            kernels.adamw(pass);
        });
        add_results(results, "LAMB", slice, [&](const OptimizerPass& pass, std::span<double> sums) {
            kernels.lamb_moments(pass, sums.first(2 * pass.blocks.parts.size()));
            kernels.lamb_apply(pass);
        });
        add_results(results, "LANS", slice, [&](const OptimizerPass& pass, std::span<double> sums) {
            kernels.lans_moments(pass, sums);
            kernels.lans_apply(pass);
        });
        add_results(results, "StableAdamW", slice, [&](const OptimizerPass& pass, std::span<double> sums) {
            kernels.stable_adamw_moments(pass, sums.first(pass.blocks.parts.size()));
            kernels.lamb_apply(pass);
        });
        return results;
    };
}

}  // namespace bertpretrain
