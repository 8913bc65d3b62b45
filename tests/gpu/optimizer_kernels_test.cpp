#include "kernels/interface/optimizer_kernels.h"

#include "gpu/gpu.h"
#include "kernels/kernels_in_use.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// A slice after one pass, with its sums.
struct Slice {
    OptimizerState state;
    at::Tensor compute_weights;
    std::vector<double> sums;

    Slice(at::Device device, void (OptimizerKernels::*pass_of)(const OptimizerPass&, std::span<double>) const,
          void (OptimizerKernels::*plain_pass_of)(const OptimizerPass&) const) {
        const std::int64_t elements = 40 * optimizer_block_elements;
        RandomTensors random(8);
        const BlockedRuns blocks({{0, 0, 0, 5}, {1, 64, 64, 100'000}, {0, 110'001, 110'001, 40'000}});
        const std::vector<TensorFactors> factors{{0.5, 0.01, 0.1, 0.02}, {1, 0, 0.2, 0.01}};
        state = {random.normal({elements}).to(device), random.normal({elements}).to(device),
                 random.normal({elements}).abs().to(device)};
        compute_weights = at::zeros({elements}, state.master.options().dtype(at::kBFloat16));
        sums.resize(3 * blocks.parts.size());
        const at::Tensor gradient = random.normal({elements}).to(device);
        const OptimizerPass pass{state, gradient, compute_weights, blocks, {0.9, 0.999, 1e-6, 0.19, 0.002}, factors};
        const OptimizerKernels& kernels = optimizer_kernels_for(device);
        if (pass_of != nullptr) (kernels.*pass_of)(pass, sums);
        else (kernels.*plain_pass_of)(pass);
    }
};

}  // namespace

TEST_CASE("on a GPU optimizers give weights and moments the CPU's bits", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    const auto check = [&](auto with_sums, auto plain) {
        const Slice ours(*device, with_sums, plain), right(at::kCPU, with_sums, plain);
        CHECK(same_bits(ours.state.master.cpu(), right.state.master));
        CHECK(same_bits(ours.state.exp_avg.cpu(), right.state.exp_avg));
        CHECK(same_bits(ours.state.exp_avg_sq.cpu(), right.state.exp_avg_sq));
        CHECK(same_bits(ours.compute_weights.cpu(), right.compute_weights));
        for (std::size_t i = 0; i < right.sums.size(); ++i) CHECK(ours.sums[i] == Approx(right.sums[i]).epsilon(1e-12));
    };
    check(&OptimizerKernels::lamb_moments, &OptimizerKernels::lamb_apply);
    check(&OptimizerKernels::lans_moments, &OptimizerKernels::lans_apply);
    check(&OptimizerKernels::stable_adamw_moments, &OptimizerKernels::lamb_apply);
    const decltype(&OptimizerKernels::lamb_moments) no_sums = nullptr;
    for (const auto plain : {&OptimizerKernels::adamw, &OptimizerKernels::lamb_apply, &OptimizerKernels::lans_apply})
        check(no_sums, plain);
}
