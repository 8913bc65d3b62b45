// Our own matmul by vector instructions beside float64.

#include "kernels/cpu/panel_matmul.h"

#include <cmath>

#include <ATen/Parallel.h>

#include "kernels/cpu/instruction_set.h"
#include "kernels/kernel_inputs.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr std::array sets_with_kernels{cpu::InstructionSet::avx2, cpu::InstructionSet::avx512, cpu::InstructionSet::avx512_bf16};

/// Calls body(kernel) for the kernels that this CPU can run; skips the test where there is none.
template <class Body>
void for_each_kernel(const Body& body) {
    if (cpu::largest_instruction_set() < sets_with_kernels.front()) SKIP_TEST(testing::skip::no_avx2, "");
    for (const cpu::InstructionSet set : sets_with_kernels) {
        if (cpu::largest_instruction_set() < set) continue;
        CAPTURE(cpu::name_of(set));
        body(*cpu::panel_kernel(set));
    }
}

/// A random matrix whose rows or columns are contiguous.
at::Tensor random_matrix(RandomTensors& random, std::int64_t rows, std::int64_t columns, bool rows_are_contiguous) {
    return rows_are_contiguous ? random.normal({rows, columns}, at::kBFloat16)
                               : random.normal({columns, rows}, at::kBFloat16).t();
}

/// The largest error of an element relative to the sum of the magnitudes that it adds up, which bounds what rounding can do.
double error(const at::Tensor& is_MN, const at::Tensor& should_MN, const at::Tensor& magnitudes_MN) {
    return ((is_MN.to(at::kDouble) - should_MN).abs() / magnitudes_MN).max().item<double>();
}

const std::vector<std::array<std::int64_t, 3>> shapes_MKN{
    {1, 1, 1},      {6, 384, 16}, {7, 385, 17},   {5, 9, 15},    {131, 70, 50},   {64, 770, 8},  {73, 1000, 385},
    {200, 31, 801}, {12, 8, 400}, {385, 769, 33}, {13, 383, 48}, {157, 801, 419}, {70, 2048, 66}};

}  // namespace

TEST_CASE("the matmul by panels is exact to the rounding of fp32 sums, for operands of any layout", "[system]") {
    for_each_kernel([](const cpu::PanelKernel& kernel) {
        for (const auto& [M, K, N] : shapes_MKN)
            for (const bool a_rows : {true, false})
                for (const bool b_rows : {true, false}) {
                    CAPTURE(M, K, N, a_rows, b_rows);
                    RandomTensors random(static_cast<std::uint64_t>(M * K + N));
                    const at::Tensor a_MK = random_matrix(random, M, K, a_rows), b_KN = random_matrix(random, K, N, b_rows);
                    const at::Tensor before_MN = random.normal({M, N}), a = a_MK.to(at::kDouble), b = b_KN.to(at::kDouble);
                    const at::Tensor should_MN = a.mm(b), magnitudes_MN = a.abs().mm(b.abs()) + before_MN.abs();
                    const double rounding = std::ldexp(static_cast<double>(K + 2), -24);

                    const at::Tensor written_MN = at::full({M, N}, std::nan("")), added_MN = before_MN.clone();
                    cpu::panel_matmul(kernel, a_MK, b_KN, written_MN, false);
                    CHECK(error(written_MN, should_MN, magnitudes_MN) < rounding);
                    cpu::panel_matmul(kernel, a_MK, b_KN, added_MN, true);
                    CHECK(error(added_MN, should_MN + before_MN, magnitudes_MN) < rounding);

                    const at::Tensor rounded_MN = at::full({M, N}, std::nan(""), at::kBFloat16);
                    cpu::panel_matmul(kernel, a_MK, b_KN, rounded_MN, false);
                    CHECK(at::equal(rounded_MN, written_MN.to(at::kBFloat16)));
                }
    });
}

TEST_CASE("the matmul by panels refuses operands without depth, whose product it would not write") {
    for_each_kernel([](const cpu::PanelKernel& kernel) {
        const at::Tensor a_MK = at::empty({2, 0}, at::kBFloat16), b_KN = at::empty({0, 3}, at::kBFloat16);
        CHECK_THROWS_AS(cpu::panel_matmul(kernel, a_MK, b_KN, at::empty({2, 3}), false), std::logic_error);
    });
}

TEST_CASE("the matmul by panels keeps infinities and NaN in their rows and columns") {
    for_each_kernel([](const cpu::PanelKernel& kernel) {
        RandomTensors random(1);
        const at::Tensor a_MK = random.normal({20, 40}, at::kBFloat16), b_KN = random.normal({40, 35}, at::kBFloat16),
                         out_MN = at::empty({20, 35});
        a_MK[19][3] = std::nan("");
        b_KN[39][34] = INFINITY;
        cpu::panel_matmul(kernel, a_MK, b_KN, out_MN, false);
        CHECK(out_MN[19].isnan().all().item<bool>());
        CHECK(out_MN.select(1, 34).narrow(0, 0, 19).isinf().all().item<bool>());
        CHECK(out_MN.narrow(0, 0, 19).narrow(1, 0, 34).isfinite().all().item<bool>());
    });
}

TEST_CASE("the matmul by panels has the same bits on one thread and on several") {
    for_each_kernel([](const cpu::PanelKernel& kernel) {
        RandomTensors random(2);
        const at::Tensor a_MK = random.normal({700, 600}, at::kBFloat16), b_KN = random.normal({600, 1100}, at::kBFloat16);
        const int threads = at::get_num_threads();
        std::vector<at::Tensor> results;
        for (const int used : {threads, 1, 3}) {
            at::set_num_threads(used);
            results.push_back(at::empty({700, 1100}));
            cpu::panel_matmul(kernel, a_MK, b_KN, results.back(), false);
        }
        at::set_num_threads(threads);
        CHECK(at::equal(results[1], results[0]));
        CHECK(at::equal(results[2], results[0]));
    });
}

TEST_CASE("the matmul by panels refuses operands that it would misread") {
    for_each_kernel([](const cpu::PanelKernel& kernel) {
        const auto bf16 = at::TensorOptions(at::kBFloat16);
        const at::Tensor a_MK = at::zeros({8, 6}, bf16), b_KN = at::zeros({6, 4}, bf16), out_MN = at::zeros({8, 4});
        const auto refused = [&](const at::Tensor& a, const at::Tensor& b, const at::Tensor& out, bool add) {
            CHECK_THROWS_AS(cpu::panel_matmul(kernel, a, b, out, add), std::logic_error);
        };
        refused(a_MK, at::zeros({5, 4}, bf16), out_MN, false);
        refused(a_MK, b_KN, at::zeros({4, 8}).t(), false);
        refused(a_MK, b_KN.to(at::kFloat), out_MN, false);
        refused(a_MK, b_KN, out_MN.to(at::kBFloat16), true);
        refused(a_MK.to(at::kFloat), b_KN.to(at::kFloat), out_MN, false);
        refused(at::zeros({8, 12}, bf16).slice(1, 0, 12, 2), b_KN, out_MN, false);
    });
}
