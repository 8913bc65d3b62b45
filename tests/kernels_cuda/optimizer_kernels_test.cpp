#include "kernels/interface/optimizer_kernels.h"

#include <bit>
#include <cstring>

#include "core/random.h"
#include "kernels_cuda/cuda_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr std::int64_t slice_elements = 4 * optimizer_block_elements, lead = 128;

/// Runs that begin and end inside blocks, fill a block exactly, are shorter than a quad, begin unaligned (in the slice, or only
/// in the flat buffer), and leave gaps. The slice has an offset in the flat buffer.
const BlockedRuns& blocks() {
    static const BlockedRuns all({{0, 0, lead, 5},
                                  {1, 64, lead + 64, 4100},
                                  {2, 4227, lead + 4227, 3},
                                  {3, 8192, lead + 8190, 4096},
                                  {0, 12353, lead + 12353, 4000}});
    return all;
}

at::Tensor values(std::uint64_t seed, float offset = -1) {
    at::Tensor all = at::empty({slice_elements});
    RandomSequence random(seed, Purpose::initial_weights, 0);
    for (std::int64_t i = 0; i < slice_elements; ++i) all.mutable_data_ptr<float>()[i] = 2 * random.uniform() + offset;
    return all;
}

struct Results {
    std::vector<TensorFactors> factors{{0.5, 0.01, 0.1, 0.02}, {1, 0, 0.2, 0.01}, {3, 0.1, 0.01, 0}, {0.1, 0.01, 0.5, 0.5}};
    OptimizerState state{values(1), values(2), values(3, 0)};
    at::Tensor gradient = values(4), compute_weights;
    std::vector<double> sums = std::vector<double>(3 * blocks().parts.size());

    Results(const OptimizerKernels& kernels, const std::string& name, at::ScalarType type, const BlockedRuns& runs,
            double eps = 1e-6)
        : compute_weights(at::zeros({slice_elements + lead}, type)) {
        const OptimizerPass pass{state, gradient, compute_weights, runs, {0.9, 0.999, eps, 0.19, 0.002}, factors};
        if (name == "adamw") kernels.adamw(pass);
        if (name == "lamb_moments") kernels.lamb_moments(pass, sums);
        if (name == "lamb_apply") kernels.lamb_apply(pass);
        if (name == "lans_moments") kernels.lans_moments(pass, sums);
        if (name == "lans_apply") kernels.lans_apply(pass);
        if (name == "stable_adamw_moments") kernels.stable_adamw_moments(pass, sums);
        if (name == "sum_squares") kernels.sum_squares(gradient, runs, sums);
    }
};

const std::vector<std::string> all_kernels{"adamw",      "lamb_moments",         "lamb_apply", "lans_moments",
                                           "lans_apply", "stable_adamw_moments", "sum_squares"};

void check_same(const Results& ours, const Results& other) {
    CHECK(same_bits(ours.state.master, other.state.master));
    CHECK(same_bits(ours.state.exp_avg, other.state.exp_avg));
    CHECK(same_bits(ours.state.exp_avg_sq, other.state.exp_avg_sq));
    CHECK(same_bits(ours.compute_weights, other.compute_weights));
}

}  // namespace

TEST_CASE("optimizers on CUDA give weights and moments the CPU's bits, and its sums to rounding") {
    for (const at::ScalarType type : {at::kBFloat16, at::kFloat})
        for (const std::string& name : all_kernels) {
            CAPTURE(name, type);
            const auto ours = in_two_orders([&] { return Results(cuda::optimizer_kernels(), name, type, blocks()); });
            const Results right(cpu_optimizer_kernels(), name, type, blocks());
            check_same(ours.first, right);
            check_same(ours.first, ours.second);
            CHECK(ours.first.sums == ours.second.sums);
            for (std::size_t i = 0; i < right.sums.size(); ++i) CHECK(ours.first.sums[i] == Approx(right.sums[i]).epsilon(1e-12));
        }
}

TEST_CASE("sums of squares on CUDA do not depend on where a slice was cut") {
    const Results whole(cuda::optimizer_kernels(), "lans_moments", at::kFloat, BlockedRuns({{0, 0, 0, 4 * 4096}}));
    const Results second(cuda::optimizer_kernels(), "lans_moments", at::kFloat, BlockedRuns({{0, 2 * 4096, 2 * 4096, 2 * 4096}}));
    for (std::size_t i = 0; i < 6; ++i) CHECK(second.sums[i] == whole.sums[6 + i]);
}

TEST_CASE("elements after a part's end add nothing to its sums on CUDA, even if they are 0 / 0") {
    const Results ours(cuda::optimizer_kernels(), "lamb_moments", at::kFloat, blocks(), /*eps=*/0);
    for (const double sum : ours.sums) CHECK(std::isfinite(sum));
}

TEST_CASE("rounding to bf16 on CUDA is ATen's for ties, infinities, the smallest numbers and a GPU's own NaN") {
    std::vector<float> numbers(slice_elements);
    RandomSequence random(9, Purpose::masking, 0);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] =
            std::bit_cast<float>(i % 3 == 0 ? (random.next() & 0xFFFF0000U) | 0x8000U : random.next());  // every third: a tie
    const std::uint32_t special[] = {0x7FFFFFFFU, 0xFFFFFFFFU, 0x7F800000U, 0xFF800000U,
                                     0x7F800001U, 0x7F7FFFFFU, 1U,          0x80000000U};
    std::memcpy(numbers.data(), special, sizeof special);
    const at::Tensor exact = at::from_blob(numbers.data(), {1, slice_elements}), zero = at::zeros({slice_elements});
    const OptimizerState state{exact.clone().view(-1), zero.clone(), at::ones_like(zero)};
    const at::Tensor compute_weights = at::zeros({slice_elements}, at::kBFloat16);
    const BlockedRuns all({{0, 0, 0, slice_elements}});
    const std::vector<TensorFactors> factors{{.momentum_rate = 0}};
    cuda::optimizer_kernels().lamb_apply({state, zero, compute_weights, all, {0, 0, 1}, factors});
    CHECK(at::allclose(compute_weights, state.master.to(at::kBFloat16), 0, 0, /*equal_nan=*/true));
    CHECK(compute_weights[0].isnan().item<bool>());
}
