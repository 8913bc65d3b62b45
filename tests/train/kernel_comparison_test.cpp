// A difference from plain ATen is a fault of the hardware only where rounding and the model itself do not explain it.
#include "train/audit/cross_check/kernel_comparison.h"

#include <limits>

#include <ATen/ATen.h>

#include "kernels/kernels_in_use.h"
#include "model/loss_sums.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// The gradient of "b" and the MLM loss of a computation; the gradient of "a" is `a` in both.
struct Values {
    double gradient = 1, loss = 1;
};

/// Compares two computations with these results. @param a scale of the gradient of "a", ten times as many elements as "b"
KernelDifference compared(const Values& own, const Values& reference, double a = 1) {
    const FlatParameters parameters(ParameterLayout({{"a", {128, 500}}, {"b", {6400}}}, 1 << 20, 1), at::kFloat, at::kCPU);
    return compare_with_reference(parameters, [&] {
        const Values& values = kernels_for(at::kCPU).name == "reference" ? reference : own;
        parameters.gradient("a").copy_(at::arange(64000).sin().view({128, 500}) * a);
        parameters.gradient("b").copy_(at::arange(6400).cos() * values.gradient);
        at::Tensor sums_S4 = at::zeros({1, LossSums::count}, at::kDouble);
        sums_S4[0][0] = values.loss;
        return sums_S4;
    });
}

}  // namespace

TEST_CASE("equal results are no fault, also where all gradients are zero or the model has diverged") {
    CHECK_FALSE(compared({}, {}).is_fault());
    CHECK(compared({}, {}).error == 0);
    CHECK_FALSE(compared({0, 0}, {0, 0}, 0).is_fault());
    CHECK_FALSE(compared({not_a_number, not_a_number}, {not_a_number, not_a_number}).is_fault());
    CHECK_FALSE(compared({1, 1}, {not_a_number, 1}).is_fault());
}

TEST_CASE("a large difference is a fault that names the tensor, as is a result that alone is not finite") {
    CHECK(compared({1000, 1}, {900, 1}).tensor == "the gradient of b");
    CHECK(compared({1000, 1}, {900, 1}).is_fault());
    CHECK(compared({1, 1.1}, {1, 1}).tensor == "the losses");
    CHECK(compared({1, 1.1}, {1, 1}).is_fault());
    CHECK(compared({not_a_number, 1}, {1, 1}).is_fault());
    CHECK(compared({1, not_a_number}, {1, 1}).is_fault());
}

TEST_CASE("what rounding explains is no fault") { CHECK_FALSE(compared({1.0001, 1.00001}, {1, 1}).is_fault()); }
