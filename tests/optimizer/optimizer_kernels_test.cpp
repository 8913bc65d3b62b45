#include "kernels/interface/optimizer_kernels.h"

#include <omp.h>
#include <bit>
#include <cmath>
#include <cstring>

#include <ATen/ops/allclose.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>

#include "core/random.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

constexpr std::int64_t slice_elements = 5 * optimizer_block_elements;

/// Runs that begin and end inside blocks, fill blocks exactly, are shorter than a vector, and leave gaps.
const BlockedRuns& blocks() {
    static const BlockedRuns all(
        {{0, 0, 0, 5}, {1, 64, 64, 4100}, {2, 4224, 4224, 3968}, {3, 8192, 8192, 4096}, {0, 12352, 12352, 8000}});
    return all;
}

at::Tensor values(std::uint64_t seed, float offset = -1) {
    at::Tensor all = at::empty({slice_elements});
    RandomSequence random(seed, Purpose::initial_weights, 0);
    for (std::int64_t i = 0; i < slice_elements; ++i) all.mutable_data_ptr<float>()[i] = 2 * random.uniform() + offset;
    return all;
}

struct Case {
    std::vector<TensorFactors> factors = {{0.5, 0.01, 0.1, 0.02}, {1, 0, 0.2, 0.01}, {3, 0.1, 0.01, 0}, {0.1, 0.01, 0.5, 0.5}};
    OptimizerPass pass{{values(1), values(2), values(3, 0)}, values(4), at::zeros({slice_elements}, at::kBFloat16), blocks(),
                       {0.9, 0.999, 1e-6, 0.19, 0.002},      factors};
    std::vector<double> sums = std::vector<double>(3 * blocks().parts.size());
};

void run(const OptimizerKernels& kernels, const std::string& name, Case& one) {
    if (name == "adamw") kernels.adamw(one.pass);
    if (name == "lamb_moments") kernels.lamb_moments(one.pass, one.sums);
    if (name == "lamb_apply") kernels.lamb_apply(one.pass);
    if (name == "lans_moments") kernels.lans_moments(one.pass, one.sums);
    if (name == "lans_apply") kernels.lans_apply(one.pass);
    if (name == "stable_adamw_moments") kernels.stable_adamw_moments(one.pass, one.sums);
    if (name == "sum_squares") kernels.sum_squares(one.pass.gradient, blocks(), one.sums);
}

const std::vector<std::string> all_kernels = {"adamw",      "lamb_moments",         "lamb_apply", "lans_moments",
                                              "lans_apply", "stable_adamw_moments", "sum_squares"};

}  // namespace

TEST_CASE("runs are split where blocks of the slice end") {
    std::vector<std::vector<std::int64_t>> parts;
    for (const TensorRun& part : blocks().parts)
        parts.push_back({static_cast<std::int64_t>(part.tensor), part.begin, part.elements});
    CHECK(parts ==
          std::vector<std::vector<std::int64_t>>{
              {0, 0, 5}, {1, 64, 4032}, {1, 4096, 68}, {2, 4224, 3968}, {3, 8192, 4096}, {0, 12352, 4032}, {0, 16384, 3968}});
}

TEST_CASE("sums of squares are those of a plain loop") {
    Case one;
    run(cpu_optimizer_kernels(), "sum_squares", one);
    for (std::size_t i = 0; i < blocks().parts.size(); ++i) {
        double expected = 0;
        for (std::int64_t k = 0; k < blocks().parts[i].elements; ++k)
            expected += std::pow(static_cast<double>(one.pass.gradient.const_data_ptr<float>()[blocks().parts[i].begin + k]), 2);
        CHECK(one.sums[i] == Approx(expected).epsilon(1e-12));
    }
}

TEST_CASE("the CPU's kernels do what the reference does, to rounding") {
    for (const std::string& name : all_kernels) {
        CAPTURE(name);
        Case ours, reference;
        run(cpu_optimizer_kernels(), name, ours);
        run(reference_optimizer_kernels(), name, reference);
        CHECK(at::allclose(ours.pass.state.master, reference.pass.state.master, 1e-6, 1e-6));
        CHECK(at::allclose(ours.pass.state.exp_avg, reference.pass.state.exp_avg, 1e-6, 1e-6));
        CHECK(at::allclose(ours.pass.state.exp_avg_sq, reference.pass.state.exp_avg_sq, 1e-6, 1e-6));
        CHECK(
            at::allclose(ours.pass.compute_weights.to(at::kFloat), reference.pass.compute_weights.to(at::kFloat), 0x1p-7, 1e-6));
        for (std::size_t i = 0; i < ours.sums.size(); ++i) CHECK(ours.sums[i] == Approx(reference.sums[i]).epsilon(1e-6));
    }
}

TEST_CASE("results do not depend on the number of threads") {
    const int threads = omp_get_max_threads();
    for (const std::string& name : all_kernels) {
        CAPTURE(name);
        Case one, many;
        omp_set_num_threads(1);
        run(cpu_optimizer_kernels(), name, one);
        omp_set_num_threads(7);
        run(cpu_optimizer_kernels(), name, many);
        omp_set_num_threads(threads);
        CHECK(at::equal(one.pass.state.master, many.pass.state.master));
        CHECK(at::equal(one.pass.state.exp_avg_sq, many.pass.state.exp_avg_sq));
        CHECK(one.sums == many.sums);
    }
}

TEST_CASE("rounding to bf16 is ATen's for ties, infinities, NaN and the smallest numbers") {
    Case one;
    one.factors.assign(4, TensorFactors{.momentum_rate = 0});
    one.pass.state.exp_avg.zero_();
    one.pass.state.exp_avg_sq.fill_(1);
    float* master = one.pass.state.master.mutable_data_ptr<float>();
    RandomSequence random(9, Purpose::masking, 0);
    for (std::int64_t i = 0; i < slice_elements; ++i) {
        std::uint32_t bits = random.next();
        if (i % 3 == 0) bits = (bits & 0xFFFF0000U) | 0x8000U;  // exactly between two neighbours
        master[i] = std::bit_cast<float>(bits);
    }
    const std::uint32_t special[] = {0x7F800000U, 0xFF800000U, 0x7FC00001U, 0x7F7FFFFFU, 0x00000001U, 0x80000000U};
    std::memcpy(master + 64, special, sizeof special);
    run(cpu_optimizer_kernels(), "lamb_apply", one);
    const at::Tensor expected = one.pass.state.master.to(at::kBFloat16);
    for (const TensorRun& part : blocks().parts)
        CHECK(at::allclose(one.pass.compute_weights.narrow(0, part.begin, part.elements),
                           expected.narrow(0, part.begin, part.elements), 0, 0,
                           /*equal_nan=*/true));
}
